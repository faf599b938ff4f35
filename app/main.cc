// matador: the command line.

#include <cstdio>
#include <exception>
#include <string>

#include "command.h"
#include "core/version.h"

namespace matador {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int fail(const std::string& message, int code) {
  std::fprintf(stderr, "matador: %s\n", message.c_str());
  return code;
}

void add_commands(CLI::App& app, Action& chosen) {
  app.set_version_flag("--version", std::string("matador ") + kVersion);
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  app.footer(
      "MODEL is a folder with config.json and safetensors, a .gguf file, or the name of a model "
      "in\n"
      "$MATADOR_MODELS (or ~/.local/share/matador/models). `matador COMMAND --help` tells the "
      "rest.");
  add_run(app, chosen);
  add_serve(app, chosen);
  add_batch(app, chosen);
  add_bench(app, chosen);
  add_generate(app, chosen);
  add_logits(app, chosen);
  add_inspect(app, chosen);
  add_tokenize(app, chosen);
  add_detokenize(app, chosen);
}

int run(int argc, char** argv) {
  CLI::App app("Matador runs and serves large language models.", "matador");
  Action chosen;
  add_commands(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(std::string(error.what()) + " (see --help)", kUsage);
  }
  Status status = chosen();
  return status ? 0 : fail(status.error().message, kFailed);
}

}  // namespace
}  // namespace matador

int main(int argc, char** argv) {
  try {
    return matador::run(argc, argv);
  } catch (const std::exception& fault) {  // of the device or the operating system
    return matador::fail(fault.what(), matador::kFailed);
  }
}
