#include "text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "corpus.h"

namespace matador {
namespace {

using json = nlohmann::ordered_json;  // templates show the order of keys
using testing::HasSubstr;
using Shared = std::shared_ptr<const ChatTemplate>;

std::string dump(const json& object, const char* key) {
  return object.contains(key) ? object[key].dump() : std::string();
}

ChatTemplateInput input_of(const json& request) {
  ChatTemplateInput input;
  input.messages_json = request["messages"].dump();
  input.tools_json = dump(request, "tools");
  input.documents_json = dump(request, "documents");
  input.kwargs_json = dump(request, "kwargs");
  input.continue_final_message = request.value("continue_final_message", false);
  input.add_generation_prompt =
      request.value("add_generation_prompt", !input.continue_final_message);
  return input;
}

Shared compile(const std::string& source, const std::string& tokens = "{}") {
  auto compiled = ChatTemplate::compile(source, tokens);
  EXPECT_TRUE(compiled.ok()) << compiled.error().message;
  return compiled.ok() ? *compiled : nullptr;
}

std::string render(const std::string& source, const json& request) {
  Shared compiled = compile(source);
  if (!compiled) return "";
  auto text = compiled->render(input_of(request));
  return text.ok() ? *text : "error: " + text.error().message;
}

class TemplateShape : public testing::TestWithParam<std::string> {};

TEST_P(TemplateShape, RendersEveryCaseAsTransformers) {
  setenv("TZ", "UTC", 1);
  json all = json::parse(read_file(test_data("templates/goldens.json")));
  std::string source = read_file(test_data("templates/" + GetParam() + ".jinja"));
  Shared compiled = compile(source, all["tokens"].dump());
  ASSERT_TRUE(compiled);
  int checked = 0;
  for (const json& golden : all["goldens"]) {
    if (golden["template"] != GetParam()) continue;
    std::string name = golden["case"];
    ChatTemplateInput input = input_of(all["cases"][name]);
    input.now = all["now"].get<int64_t>();
    auto text = compiled->render(input);
    if (golden.contains("expected")) {
      ASSERT_TRUE(text.ok()) << name << ": " << text.error().message;
      EXPECT_EQ(*text, golden["expected"].get<std::string>()) << name;
    } else {
      ASSERT_FALSE(text.ok()) << name << ": " << *text;
      if (golden.contains("raised")) {
        EXPECT_EQ(text.error().message, golden["raised"].get<std::string>()) << name;
      }
    }
    ++checked;
  }
  EXPECT_GE(checked, 25);
}

std::vector<std::string> shapes() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(test_data("templates"))) {
    if (entry.path().extension() == ".jinja") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, TemplateShape, testing::ValuesIn(shapes()),
                         [](const auto& test) { return test.param; });

TEST(ChatTemplate, ReportsASyntaxErrorWithItsLine) {
  auto compiled = ChatTemplate::compile("{{ a }}\n{% if %}\n", "{}");
  ASSERT_FALSE(compiled.ok());
  EXPECT_THAT(compiled.error().message, HasSubstr("line 2"));
}

TEST(ChatTemplate, SpeaksTheTemplatesOwnWordsWhereItRaises) {
  json request = {{"messages", {{{"role", "user"}, {"content", "x"}}}}};
  EXPECT_EQ(render("{{ raise_exception('No ' + messages[0].role + 's here.') }}", request),
            "error: No users here.");
}

TEST(ChatTemplate, EndsATemplateThatDoesNot) {
  json request = {{"messages", {{{"role", "user"}, {"content", "x"}}}}};
  EXPECT_THAT(render("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", request),
              HasSubstr("error: chat template"));
  EXPECT_THAT(render("{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) "
                     "%}{% endfor %}{% endfor %}{% endfor %}",
                     request),
              HasSubstr("does not come to an end"));
  EXPECT_THAT(render("{% set n = namespace(s='xxxxxxxx') %}{% for a in range(99) %}{% set n.s = "
                     "n.s ~ n.s %}{% endfor %}",
                     request),
              HasSubstr("does not come to an end"));
}

TEST(ChatTemplate, ParsesArgumentsWrittenAsTextForTemplatesThatReadThem) {
  json call = {{"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{\"a\": [1]}"}}}};
  json request = {
      {"messages", {{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {call}}}}}};
  std::string loop = "{% for m in messages %}{% for c in m.tool_calls or [] %}";
  std::string end = "{% endfor %}{{ m.content }}{% endfor %}";
  EXPECT_EQ(render(loop + "{{ c.function.arguments | tojson }}" + end, request), "{\"a\": [1]}");
  EXPECT_EQ(render(loop + "{{ '<' + c.function.arguments + '>' }}" + end, request),
            "<{\"a\": [1]}>");
}

TEST(ChatTemplate, RefusesPartsThatATextTemplateCannotShow) {
  json parts = {{{"type", "text"}, {"text", "see"}}, {{"type", "image_url"}, {"image_url", "x"}}};
  json request = {{"messages", {{{"role", "user"}, {"content", parts}}}}};
  std::string text = render("{% for m in messages %}{{ m.content }}{% endfor %}", request);
  EXPECT_THAT(text, HasSubstr("messages[0].content: [1]"));
  EXPECT_THAT(text, HasSubstr("'image_url'"));
}

TEST(ChatTemplate, NamesTheMessagesWhereTheyAreNotAList) {
  EXPECT_THAT(render("x", {{"messages", json::object()}}), HasSubstr("messages"));
  EXPECT_THAT(render("x", {{"messages", {1}}}), HasSubstr("messages[0]"));
  Shared compiled = compile("x");
  ChatTemplateInput broken;
  broken.messages_json = "[{]";
  auto text = compiled->render(broken);
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(text.error().message, HasSubstr("messages"));
}

TEST(ChatTemplate, ComesFromAFolder) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) / "matador_chat_template";
  fs::create_directories(folder);
  EXPECT_EQ(ChatTemplate::from_folder(folder).error().code, ErrorCode::not_found);
  std::ofstream(folder / "tokenizer_config.json")
      << json{{"eos_token", {{"content", "</s>"}}},
              {"chat_template",
               {{{"name", "rag"}, {"template", "no"}},
                {{"name", "default"}, {"template", "{{eos_token}}"}}}}};
  ChatTemplateInput input;
  input.messages_json = R"([{"role": "user", "content": "x"}])";
  EXPECT_EQ(*(*ChatTemplate::from_folder(folder))->render(input), "</s>");
  std::ofstream(folder / "chat_template.jinja") << "file";
  EXPECT_EQ(*(*ChatTemplate::from_folder(folder))->render(input), "file");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace matador
