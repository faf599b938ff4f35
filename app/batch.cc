// matador batch: answers the lines of an OpenAI batch file without a server.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unordered_set>

#include "api/batch_lines.h"
#include "command.h"
#include "core/file.h"
#include "options.h"
#include "server/batch_session.h"
#include "server/routes.h"
#include "server/service.h"
#include "terminal.h"

namespace matador {

namespace {

struct BatchCommand {
  ModelOptions model;
  EngineFlags engine;
  std::string input, output;
  std::vector<std::string> served_model_names;
};

using Ids = std::unordered_set<std::string>;

struct Input {
  std::shared_ptr<const MappedFile> file;
  std::string endpoint;
  std::vector<BatchLine> lines;

  std::string_view text() const {
    return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
  }
};

Result<Input> read_input(const std::string& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  Input input{*file, "", {}};
  input.endpoint = first_batch_url(input.text());
  if (!is_batch_endpoint(input.endpoint))
    return invalid_argument(path + ": the first line's url is no route that batches can call: \"" +
                            input.endpoint + "\"");
  ScannedBatch scanned = scan_batch(input.text(), input.endpoint);
  if (!scanned.faults.empty()) {
    const BatchFault& first = scanned.faults.front();
    return invalid_argument(path + ":" + std::to_string(first.line) + ": " + first.message);
  }
  input.lines = std::move(scanned.lines);
  return input;
}

// The custom_ids that an earlier run answered. What it was killed while writing is cut off.
Result<Ids> read_answered(const std::string& path) {
  Ids ids;
  std::ifstream file(path, std::ios::binary);
  if (!file) return ids;
  std::streamoff whole = 0;
  for (std::string line; std::getline(file, line) && !file.eof(); whole = file.tellg()) {
    auto id = batch_answer_id(line);
    if (!id) return invalid_argument(path + " is not a batch's output; it is left as it is");
    ids.insert(std::move(*id));
  }
  file.close();
  std::error_code refused;
  std::filesystem::resize_file(path, static_cast<uint64_t>(whole), refused);
  if (refused) return Error{ErrorCode::io, path + ": " + refused.message()};
  return ids;
}

struct Run {
  const Input& input;
  const Ids& answered;
  std::FILE* output;
  size_t done = 0, failed = 0;
  size_t next_line = 0;
  ProgressLine progress{"batch"};
  bool refused = false;  // by the disk

  std::optional<BatchSession::Line> next() {
    while (next_line < input.lines.size()) {
      const BatchLine& line = input.lines[next_line++];
      if (answered.contains(line.custom_id)) continue;
      auto body = batch_line_body(
          input.text().substr(static_cast<size_t>(line.offset), static_cast<size_t>(line.size)));
      return BatchSession::Line{line, body.ok() ? *body : ""};
    }
    return std::nullopt;
  }

  void record(const std::vector<BatchAnswer>& answers) {
    for (const BatchAnswer& answer : answers) {
      refused |= std::fputs(answer.text.c_str(), output) < 0;
      failed += answer.ok ? 0 : 1;
    }
    refused |= std::fflush(output) != 0;
    done += answers.size();
    progress.show(done, input.lines.size());
  }
};

Status batch(const BatchCommand& command) {
  Result<Input> input = read_input(command.input);
  if (!input) return input.error();
  Result<Ids> answered = read_answered(command.output);
  if (!answered) return answered.error();
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(std::fopen(command.output.c_str(), "ab"),
                                                         std::fclose);
  if (!output) return Error{ErrorCode::io, command.output + ": it cannot be written to"};
  auto served = load(command.model, command.engine);
  if (!served) return served.error();
  ServerOptions options;
  options.served_model_names = command.served_model_names;
  if (options.served_model_names.empty()) options.served_model_names = {command.model.model};
  auto service = Service::create(**served, options);
  if (!service) return service.error();

  Run run{*input, *answered, output.get()};
  run.done = answered->size();
  BatchSession session(
      [&](HttpRequest request, std::shared_ptr<Exchange> exchange) {
        (*service)->handle_line(std::move(request), std::move(exchange), "");
      },
      input->endpoint, options.batch_width);
  session.run({.next = [&] { return run.next(); },
               .record = [&](const auto& answers) { run.record(answers); },
               .stop = [&] { return run.refused; }});
  if (run.refused) return Error{ErrorCode::io, command.output + ": the disk refuses"};
  std::fprintf(stderr, "matador: %zu lines answered, %zu of them by an error, in %s\n",
               run.done - answered->size(), run.failed, command.output.c_str());
  return {};
}

}  // namespace

void add_batch(CLI::App& app, Action& chosen) {
  auto [command, options] =
      add_command(app, chosen, "batch", "Answer the lines of an OpenAI batch file", batch);
  command->add_option("FILE", options->input, "JSON lines, as /v1/batches takes them")->required();
  add_model_options(*command, options->model);
  command
      ->add_option("-o,--output", options->output,
                   "File of answers, in the order in which they are ready; lines that it has "
                   "already are not answered again")
      ->required();
  command->add_option("--served-model-name", options->served_model_names,
                      "What lines may call the model; several are allowed (default: MODEL)");
  add_engine_options(*command, options->engine);
}

}  // namespace matador
