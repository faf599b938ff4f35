#include "api/chat_prompt.h"

#include <algorithm>
#include <array>

#include "api/field_reader.h"
#include "api/tool_text.h"

namespace matador {
namespace {

constexpr size_t kMaxMessages = 100'000;

// Templates may write roles between a control token's brackets ("<|user|>"), so a role must be a
// word, and one of the usual words if it is part of a control token.
void check_role(FieldReader& in, const std::string& role, const ControlTokens& control_tokens) {
  constexpr std::array kUsual = {"system", "developer", "user", "assistant", "tool", "function"};
  if (std::find(kUsual.begin(), kUsual.end(), role) != kUsual.end()) return;
  bool word =
      !role.empty() && role.size() <= 64 && std::all_of(role.begin(), role.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
      });
  if (!word || control_tokens.part_of_any(role))
    in.fail("role", "must be system, developer, user, assistant or tool, found \"" + role + "\"");
}

void check_parts(FieldReader& in, const Json& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string path = in.path_of("content") + "[" + std::to_string(i) + "]";
    if (!parts[i].is_object())
      return in.fail(field_error(path, "must be an object, found " + describe_json(parts[i])));
    FieldReader part(parts[i], path);
    std::string type = part.text("type").value_or("");
    if (!part.error() && type != "text")
      part.fail(
          "type",
          "must be \"text\", the only kind of content that is supported, found \"" + type + "\"",
          "unsupported_content");
    if (!part.error() && !part.text("text")) part.fail("text", "is required");
    part.refuse_unknown();
    if (part.error()) return in.fail(*part.error());
  }
}

// Templates get text: null would break those that slice or join it.
Json read_content(FieldReader& in, const std::string& role) {
  const Json* content = in.value("content");
  if (in.error()) return nullptr;
  if (!content) {
    if (role != "assistant") in.fail("content", "is required");
    return "";
  }
  if (content->is_array())
    check_parts(in, *content);
  else if (!content->is_string())
    in.fail("content", "must be a string or an array of parts, found " + describe_json(*content));
  return *content;
}

// The name and arguments of a call. Arguments are JSON text; templates want the object.
Json read_function(FieldReader& in, const Json& function, const std::string& path) {
  FieldReader inner(function, path);
  auto name = inner.text("name");
  auto text = inner.text("arguments");
  if (!inner.error() && (!name || name->empty())) inner.fail("name", "is required");
  inner.refuse_unknown();
  ApiResult<Json> arguments = parse_json_object(text && !text->empty() ? *text : "{}");
  if (!inner.error() && !arguments.ok()) inner.fail("arguments", "must be a JSON object as text");
  if (inner.error()) return in.fail(*inner.error()), Json();
  return {{"name", *name}, {"arguments", std::move(*arguments)}};
}

// One of an assistant's earlier calls.
Json read_tool_call(FieldReader& in) {
  Json call = {{"id", in.text("id").value_or("")}, {"type", "function"}};
  in.unsupported("type", "function");
  const Json* function = in.object("function");
  if (!in.error() && !function) in.fail("function", "is required");
  in.refuse_unknown();
  if (!in.error()) call["function"] = read_function(in, *function, in.path_of("function"));
  return call;
}

Json read_tool_calls(FieldReader& in, const Json& found) {
  Json calls = Json::array();
  for (size_t i = 0; i < found.size() && !in.error(); ++i) {
    std::string path = in.path_of("tool_calls") + "[" + std::to_string(i) + "]";
    if (!found[i].is_object()) {
      in.fail(field_error(path, "must be an object, found " + describe_json(found[i])));
      break;
    }
    FieldReader call(found[i], path);
    calls.push_back(read_tool_call(call));
    if (call.error()) in.fail(*call.error());
  }
  return calls;
}

// What calls and their results add to a message. Templates know of tools only, so the deprecated
// functions become calls, whose ids are the functions' names.
void read_calls(FieldReader& in, const std::string& role, Json& message) {
  const bool is_assistant = role == "assistant";
  if (const Json* calls = in.array("tool_calls"); calls && !calls->empty()) {
    if (!is_assistant) in.fail("tool_calls", "is only allowed in an assistant's message");
    message["tool_calls"] = read_tool_calls(in, *calls);
  }
  if (const Json* call = in.object("function_call")) {
    if (!is_assistant) in.fail("function_call", "is only allowed in an assistant's message");
    if (message.contains("tool_calls"))
      in.fail("function_call", "must not be given beside 'tool_calls'");
    Json function = read_function(in, *call, in.path_of("function_call"));
    if (in.error()) return;
    Json made = {{"id", function["name"]}, {"type", "function"}};
    made["function"] = std::move(function);
    message["tool_calls"] = Json::array({std::move(made)});
  }
  auto id = in.text("tool_call_id");
  if (id && role != "tool") in.fail("tool_call_id", "is only allowed in a tool's message");
  if (role == "tool" && !id) in.fail("tool_call_id", "is required");
  if (id) message["tool_call_id"] = *id;
  if (role != "function") return;
  if (!message.contains("name")) return in.fail("name", "is required");
  message["role"] = "tool";
  message["tool_call_id"] = message["name"];
}

Json read_message(FieldReader& in, const ControlTokens& control_tokens) {
  auto role = in.text("role");
  if (!in.error() && !role) in.fail("role", "is required");
  if (in.error()) return nullptr;
  check_role(in, *role, control_tokens);
  Json message = {{"role", *role}, {"content", read_content(in, *role)}};
  for (auto name : {"name", "reasoning_content", "reasoning"})
    if (auto text = in.text(name)) message[name] = *text;
  read_calls(in, *role, message);
  in.unsupported("annotations", Json::array());
  for (auto name : {"refusal", "audio"}) in.unsupported(name);
  in.refuse_unknown();
  return message;
}

void read_messages(FieldReader& in, const ControlTokens& control_tokens, Json& messages) {
  const Json* found = in.array("messages");
  if (in.error()) return;
  if (!found) return in.fail("messages", "is required", "missing_required_parameter");
  if (found->empty()) return in.fail("messages", "must not be empty");
  if (found->size() > kMaxMessages)
    return in.fail("messages", "must be at most " + std::to_string(kMaxMessages));
  for (size_t i = 0; i < found->size(); ++i) {
    std::string path = "messages[" + std::to_string(i) + "]";
    if (!(*found)[i].is_object())
      return in.fail(field_error(path, "must be an object, found " + describe_json((*found)[i])));
    FieldReader message((*found)[i], path);
    messages.push_back(read_message(message, control_tokens));
    if (message.error()) return in.fail(*message.error());
  }
}

void read_kwargs(FieldReader& in, Json& kwargs) {
  const Json* found = in.object("chat_template_kwargs");
  if (!found) return;
  for (auto name : {"messages", "tools", "documents", "chat_template", "add_generation_prompt",
                    "continue_final_message", "bos_token", "eos_token", "pad_token", "unk_token"})
    if (found->contains(name))
      return in.fail("chat_template_kwargs", "must not replace \"" + std::string(name) + "\"");
  kwargs = *found;
}

void hide(Disguise& disguise, Json& value) {
  if (value.is_string()) {
    value = disguise.hide(value.get_ref<const std::string&>());
  } else if (value.is_array()) {
    for (Json& item : value) hide(disguise, item);
  } else if (value.is_object()) {
    Json hidden = Json::object();
    for (auto& [key, item] : value.items()) {
      hide(disguise, item);
      hidden[disguise.hide(key)] = std::move(item);
    }
    value = std::move(hidden);
  }
}

// Every text of a message but its role, which check_role vouches for.
void hide_message(Disguise& disguise, Json& message) {
  for (auto& [key, value] : message.items())
    if (key != "role") hide(disguise, value);
}

void hide_prompt(Disguise& disguise, ChatPrompt& prompt) {
  for (Json& message : prompt.messages) hide_message(disguise, message);
  hide(disguise, prompt.tools);
  hide(disguise, prompt.template_kwargs);
}

bool opens_reasoning(const ChatPrompt& prompt, const std::string& rendered,
                     const ReasoningFormat* format) {
  if (!format) return false;
  if (!prompt.continue_final_message) return trimmed(rendered).ends_with(format->open);
  const std::string text = final_assistant_text(prompt);
  const size_t open = text.rfind(format->open);
  return open != std::string::npos && text.find(format->close, open) == std::string::npos;
}

}  // namespace

ChatPrompt read_chat_prompt(FieldReader& in, const ControlTokens& control_tokens) {
  ChatPrompt prompt;
  read_messages(in, control_tokens, prompt.messages);
  read_kwargs(in, prompt.template_kwargs);
  prompt.continue_final_message = in.boolean("continue_final_message").value_or(false);
  prompt.add_generation_prompt =
      in.boolean("add_generation_prompt").value_or(!prompt.continue_final_message);
  if (prompt.continue_final_message && prompt.add_generation_prompt)
    in.fail("continue_final_message", "cannot be true when 'add_generation_prompt' is true");
  prompt.add_special_tokens = in.boolean("add_special_tokens").value_or(false);
  return prompt;
}

ApiResult<EncodedPrompt> encode_chat_prompt(ChatPrompt prompt, const ApiModel& model) {
  const ServedModel& served = *model.served;
  if (!served.tokenizer)
    return ApiError{.message = "The model has no tokenizer", .code = "no_tokenizer"};
  if (!served.chat_template) {
    std::string why = served.chat_template_error.empty() ? "" : ": " + served.chat_template_error;
    return ApiError{.message = "The model has no chat template" + why + "; use /v1/completions",
                    .param = "messages",
                    .code = "no_chat_template"};
  }
  const bool reads_tools = served.chat_template->takes_tools();
  if (!reads_tools) {
    write_calls_as_text(*model.call_format, prompt.messages);
    if (!prompt.tools.empty()) describe_tools(prompt.tools, *model.call_format, prompt.messages);
    prompt.tools = Json::array();
  }
  EncodedPrompt encoded;
  Disguise disguise(model.control_tokens);
  if (!model.parse_special_tokens_in_messages) hide_prompt(disguise, prompt);
  ChatTemplateInput input;
  input.messages_json = dump_json(prompt.messages);
  if (!prompt.tools.empty()) input.tools_json = dump_json(prompt.tools);
  input.kwargs_json = dump_json(prompt.template_kwargs);
  input.add_generation_prompt = prompt.add_generation_prompt;
  input.continue_final_message = prompt.continue_final_message;
  Result<std::string> rendered = served.chat_template->render(input);
  if (!rendered.ok())
    return ApiError{
        .message = "The chat template refused the messages: " + rendered.error().message,
        .param = "messages",
        .code = "chat_template_error"};
  auto ids = disguise.encode(*rendered, *served.tokenizer, prompt.add_special_tokens);
  if (!ids.ok()) return to_api_error(ids.error());
  encoded.ids = std::move(*ids);
  encoded.opens_reasoning = opens_reasoning(prompt, *rendered, model.reasoning_format);
  return encoded;
}

std::string final_assistant_text(const ChatPrompt& prompt) {
  const Json& last = prompt.messages.back();
  if (last["role"] != "assistant") return "";
  const Json& content = last["content"];
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  for (const Json& part : content) text += part["text"].get_ref<const std::string&>();
  return text;
}

}  // namespace matador
