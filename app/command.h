// The commands of `matador`. Each add_* declares one with its options; parsing the command line
// leaves the chosen one's action.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "core/result.h"

namespace matador {

using Action = std::function<Status()>;

void add_run(CLI::App& app, Action& chosen);
void add_serve(CLI::App& app, Action& chosen);
void add_batch(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_generate(CLI::App& app, Action& chosen);
void add_logits(CLI::App& app, Action& chosen);
void add_inspect(CLI::App& app, Action& chosen);
void add_tokenize(CLI::App& app, Action& chosen);
void add_detokenize(CLI::App& app, Action& chosen);

// Declares a command whose parsed options `run` gets.
template <class Options>
std::pair<CLI::App*, std::shared_ptr<Options>> add_command(CLI::App& app, Action& chosen,
                                                           const std::string& name,
                                                           const std::string& description,
                                                           Status (*run)(const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(name, description);
  command->callback([options, run, &chosen] { chosen = [options, run] { return run(*options); }; });
  return {command, options};
}

}  // namespace matador
