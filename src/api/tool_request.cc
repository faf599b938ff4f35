#include "api/tool_request.h"

#include <algorithm>
#include <utility>

#include "api/field_reader.h"

namespace matador {
namespace {

constexpr size_t kLongestName = 64;

// A reader of an object at `path`, whose fault becomes the outer reader's.
template <class Read>
void read_object(FieldReader& in, const Json& found, const std::string& path, Read read) {
  if (in.error()) return;
  if (!found.is_object())
    return in.fail(field_error(path, "must be an object, found " + describe_json(found)));
  FieldReader inner(found, path);
  read(inner);
  inner.refuse_unknown();
  if (inner.error()) in.fail(*inner.error());
}

std::string read_name(FieldReader& in) {
  std::string name = in.text("name").value_or("");
  const bool fine =
      !name.empty() && name.size() <= kLongestName &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
      });
  if (!in.error() && !fine)
    in.fail("name",
            "must be 1 to 64 letters, digits, '_', '-' and '.', found " + describe_json(name));
  return name;
}

Tool read_function(FieldReader& in, const ToolSet& others) {
  Tool tool{read_name(in), ""};
  if (!in.error() && find_tool(others, tool.name))
    in.fail("name", "must differ from the other functions', found " + describe_json(tool.name));
  in.text("description");
  // What strict asks for, arguments that match the schema, is always so.
  in.boolean("strict");
  const Json* parameters = in.object("parameters");
  if (!parameters) return tool;
  auto type = parameters->find("type");
  if (type != parameters->end() && *type != "object")
    in.fail("parameters.type", "must be \"object\", found " + describe_json(*type));
  tool.parameters = dump_json(*parameters);
  return tool;
}

void too_many(FieldReader& in, std::string_view name, const Json& list) {
  if (list.size() > kMaxTools)
    in.fail(name, "must have at most " + std::to_string(kMaxTools) + " entries, found " +
                      std::to_string(list.size()));
}

ToolSet read_tool_list(FieldReader& in, const Json& list) {
  ToolSet tools;
  too_many(in, "tools", list);
  for (size_t i = 0; i < list.size() && !in.error(); ++i) {
    const std::string path = "tools[" + std::to_string(i) + "]";
    read_object(in, list[i], path, [&](FieldReader& tool) {
      const std::string type = tool.text("type").value_or("");
      if (!tool.error() && type != "function")
        tool.fail("type", "must be \"function\", found " + describe_json(type));
      const Json* function = tool.object("function");
      if (!tool.error() && !function) tool.fail("function", "is required");
      if (tool.error()) return;
      read_object(tool, *function, path + ".function",
                  [&](FieldReader& inner) { tools.push_back(read_function(inner, tools)); });
    });
  }
  return tools;
}

// {"type": "function", "function": {"name": ...}}
std::string read_reference(FieldReader& in, const Json& found, const std::string& path,
                           const ToolSet& tools) {
  std::string name;
  read_object(in, found, path, [&](FieldReader& reference) {
    if (reference.text("type").value_or("") != "function")
      reference.fail("type", "must be \"function\"");
    const Json* function = reference.object("function");
    if (!reference.error() && !function) reference.fail("function", "is required");
    if (reference.error()) return;
    read_object(reference, *function, path + ".function", [&](FieldReader& inner) {
      name = inner.text("name").value_or("");
      if (!inner.error() && !find_tool(tools, name))
        inner.fail("name", "must be the name of one of the tools, found " + describe_json(name));
    });
  });
  return name;
}

std::shared_ptr<const ToolSet> subset(const ToolSet& tools, const std::vector<std::string>& names) {
  auto some = std::make_shared<ToolSet>();
  for (const Tool& tool : tools)
    if (std::find(names.begin(), names.end(), tool.name) != names.end()) some->push_back(tool);
  return some;
}

void read_mode(FieldReader& in, const std::string& mode, ToolChoice& choice) {
  constexpr std::pair<std::string_view, ToolChoice> kModes[] = {{"none", ToolChoice::none},
                                                                {"auto", ToolChoice::automatic},
                                                                {"required", ToolChoice::required}};
  for (auto [name, meaning] : kModes) {
    if (mode != name) continue;
    choice = meaning;
    return;
  }
  in.fail("tool_choice",
          "must be \"none\", \"auto\", \"required\", a function or allowed_tools, found " +
              describe_json(mode));
}

// {"type": "allowed_tools", "allowed_tools": {"mode": ..., "tools": [...]}}
void read_allowed(FieldReader& in, const Json& found, ToolRequest& request) {
  const std::string path = "tool_choice.allowed_tools";
  read_object(in, found, "tool_choice", [&](FieldReader& outer) {
    outer.text("type");
    const Json* allowed = outer.object("allowed_tools");
    if (!outer.error() && !allowed) outer.fail("allowed_tools", "is required");
    if (outer.error()) return;
    read_object(outer, *allowed, path, [&](FieldReader& inner) {
      const std::string mode = inner.text("mode").value_or("");
      if (!inner.error() && mode != "auto" && mode != "required")
        inner.fail("mode", "must be \"auto\" or \"required\", found " + describe_json(mode));
      request.choice = mode == "required" ? ToolChoice::required : ToolChoice::automatic;
      const Json* list = inner.array("tools");
      if (!inner.error() && (!list || list->empty())) inner.fail("tools", "must not be empty");
      if (inner.error()) return;
      std::vector<std::string> names;
      for (size_t i = 0; i < list->size(); ++i)
        names.push_back(read_reference(
            inner, (*list)[i], path + ".tools[" + std::to_string(i) + "]", *request.callable));
      request.callable = subset(*request.callable, names);
    });
  });
}

void read_choice(FieldReader& in, ToolRequest& request) {
  const bool offered = !request.callable->empty();
  request.choice = offered ? ToolChoice::automatic : ToolChoice::none;
  const Json* choice = in.value("tool_choice");
  if (!choice || in.error()) return;
  if (!offered && *choice != "none")
    return in.fail("tool_choice", "is only allowed when 'tools' are given");
  if (choice->is_string())
    return read_mode(in, choice->get_ref<const std::string&>(), request.choice);
  if (choice->is_object() && choice->value("type", Json()) == "allowed_tools")
    return read_allowed(in, *choice, request);
  request.choice = ToolChoice::named;
  const std::string name = read_reference(in, *choice, "tool_choice", *request.callable);
  request.callable = subset(*request.callable, {name});
}

void read_functions(FieldReader& in, const Json& list, ToolRequest& request) {
  ToolSet tools;
  too_many(in, "functions", list);
  for (size_t i = 0; i < list.size() && !in.error(); ++i) {
    read_object(in, list[i], "functions[" + std::to_string(i) + "]",
                [&](FieldReader& inner) { tools.push_back(read_function(inner, tools)); });
    request.shown.push_back({{"type", "function"}, {"function", list[i]}});
  }
  request.callable = std::make_shared<ToolSet>(std::move(tools));
  request.deprecated = true;
  request.parallel = false;
}

void read_function_call(FieldReader& in, ToolRequest& request) {
  const Json* choice = in.value("function_call");
  if (!choice || in.error()) return;
  if (request.callable->empty() && *choice != "none")
    return in.fail("function_call", "is only allowed when 'functions' are given");
  if (*choice == "none" || *choice == "auto") {
    if (*choice == "none") request.choice = ToolChoice::none;
    return;
  }
  if (choice->is_string())
    return in.fail("function_call", "must be \"none\", \"auto\" or an object with a name, found " +
                                        describe_json(*choice));
  read_object(in, *choice, "function_call", [&](FieldReader& inner) {
    const std::string name = inner.text("name").value_or("");
    if (!inner.error() && !find_tool(*request.callable, name))
      inner.fail("name", "must be the name of one of the functions, found " + describe_json(name));
    request.choice = ToolChoice::named;
    request.callable = subset(*request.callable, {name});
  });
}

}  // namespace

ToolRequest read_tools(FieldReader& in) {
  ToolRequest request;
  const Json* tools = in.array("tools");
  const Json* functions = in.array("functions");
  if (tools && functions) in.fail("functions", "must not be given beside 'tools'");
  if (tools && !in.error()) {
    request.callable = std::make_shared<ToolSet>(read_tool_list(in, *tools));
    request.shown = *tools;
  } else if (functions && !in.error()) {
    read_functions(in, *functions, request);
  }
  const auto parallel = in.boolean("parallel_tool_calls");
  if (parallel && request.shown.empty())
    in.fail("parallel_tool_calls", "is only allowed when 'tools' are given");
  if (parallel) request.parallel = *parallel;
  if (!tools && functions && in.value("tool_choice"))
    in.fail("tool_choice", "is only allowed when 'tools' are given");
  read_choice(in, request);
  if (tools && in.value("function_call"))
    in.fail("function_call", "must not be given beside 'tools'");
  read_function_call(in, request);
  return request;
}

bool shows_tools(const ToolRequest& tools, const ApiModel& model) {
  return model.tools_in_template && tools.choice != ToolChoice::none;
}

}  // namespace matador
