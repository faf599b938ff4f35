// matador serve: the OpenAI-compatible HTTP server.

#include <cstdio>

#include "command.h"
#include "core/file.h"
#include "data_folder.h"
#include "options.h"
#include "server/server.h"

namespace matador {

namespace {

struct ServeCommand {
  ModelOptions model;
  EngineFlags engine;
  ServerOptions server;
  std::string api_keys_file, data_dir;
};

constexpr uint64_t kMaxKeysFile = uint64_t{16} << 20;

Status read_tenants(const std::string& path, std::vector<Tenant>& tenants) {
  if (path.empty()) return {};
  auto text = read_file(path, kMaxKeysFile);
  if (!text) return text.error();
  auto parsed = parse_tenants(*text, path);
  if (!parsed) return parsed.error();
  tenants = std::move(*parsed);
  return {};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Status serve(const ServeCommand& command) {
  ServerOptions options = command.server;
  if (Status status = read_tenants(command.api_keys_file, options.tenants); !status) return status;
  auto store = open_data_folder(command.data_dir);
  if (!store) return store.error();
  options.store = store->get();
  auto served = load(command.model, command.engine);
  if (!served) return served.error();
  if (options.served_model_names.empty()) options.served_model_names = {command.model.model};
  options.handle_signals = true;
  auto server = Server::start(**served, options);
  if (!server) return server.error();
  std::printf("matador: serving %s at http://%s:%d/v1\n",
              joined(options.served_model_names).c_str(), options.host.c_str(), (*server)->port());
  std::fflush(stdout);
  (*server)->wait();
  return {};
}

void add_dialect_options(CLI::App& command, DialectOptions& dialect) {
  command.add_option("--tool-call-parser", dialect.tool_call_parser,
                     "How the model writes calls, such as hermes (default: as its template shows)");
  command.add_option(
      "--reasoning-parser", dialect.reasoning_parser,
      "How the model writes its reasoning, such as think; none: not at all (default: as its "
      "template shows)");
  command.add_flag("!--no-tools-in-template", dialect.tools_in_template,
                   "Leave the description of tools to the caller's messages");
}

void add_listening(CLI::App& command, ServerOptions& server) {
  command.add_option("--host", server.host, "Address to listen on")->capture_default_str();
  command.add_option("--port", server.port, "Port to listen on; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command.add_option("--served-model-name", server.served_model_names,
                     "What requests may call the model; several are allowed (default: MODEL)");
  command
      .add_option("--api-key", server.api_keys,
                  "Requests must bear it as `Authorization: Bearer KEY`; several are allowed")
      ->envname("MATADOR_API_KEY");
  command
      .add_option("--allowed-origins", server.cors_origins,
                  "Web origins that browsers may call from")
      ->capture_default_str();
  command.add_flag("--parse-special-tokens", server.parse_special_tokens_in_messages,
                   "Control tokens spelled out in messages count as control tokens");
}

}  // namespace

void add_serve(CLI::App& app, Action& chosen) {
  auto [command, options] =
      add_command(app, chosen, "serve", "Serve a model by OpenAI's API", serve);
  add_model_options(*command, options->model);
  command->get_option("MODEL")->required(false);
  command->add_option("--model", options->model.model, "The same as MODEL, as vLLM spells it");
  command->parse_complete_callback([options = options] {
    if (options->model.model.empty()) throw CLI::RequiredError("MODEL");
  });
  add_listening(*command, options->server);
  command->add_option("--api-keys", options->api_keys_file,
                      "JSON file of keys with names, weights and limits");
  command->add_option("--data-dir", options->data_dir,
                      "Folder for files, batches and usage (default: "
                      "$XDG_DATA_HOME/matador/server)");
  add_dialect_options(*command, options->server.dialect);
  add_engine_options(*command, options->engine);
}

}  // namespace matador
