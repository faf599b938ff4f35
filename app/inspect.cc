// matador inspect: what a checkpoint holds and needs, without loading its weights.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <regex>

#include "command.h"
#include "core/json.h"
#include "models/registry.h"
#include "nn/attention.h"
#include "options.h"
#include "weights/checkpoint.h"

namespace matador {

namespace {

struct InspectOptions {
  std::string model;
  bool json = false;
};

struct FormatTotal {
  int64_t tensors = 0;
  int64_t values = 0;
  uint64_t bytes = 0;
};

int64_t values_of(const StoredTensor& tensor) {
  int64_t values = 1;
  for (int64_t extent : tensor.shape) values *= extent;
  return values;
}

std::string shape_text(const StoredTensor& tensor) {
  std::string text;
  for (int64_t extent : tensor.shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::map<std::string, FormatTotal> totals_by_format(const Checkpoint& checkpoint) {
  std::map<std::string, FormatTotal> totals;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    FormatTotal& total = totals[std::string(tensor.format->name)];
    ++total.tensors;
    total.values += values_of(tensor);
    total.bytes += tensor.bytes;
  }
  return totals;
}

void print_row(const std::string& name, const FormatTotal& total) {
  std::printf("%-10s %9" PRId64 " %15" PRId64 " %15" PRIu64 "\n", name.c_str(), total.tensors,
              total.values, total.bytes);
}

uint64_t kv_bytes_per_token(const DecoderSpec& spec) {
  uint64_t bytes = 0;
  for (const Layer& layer : spec.layers) {
    for (const Residual& residual : layer) {
      for (const Path& path : residual.paths) {
        const auto* attention = std::get_if<Attention>(&path.op);
        if (attention == nullptr) continue;
        const KvLayer kv = kv_layer(*attention, KvType::f16, 1);
        bytes += 2 * static_cast<uint64_t>(kv.num_kv_heads * kv.head_dim * bytes_of(kv.type));
      }
    }
  }
  return bytes;
}

Result<DecoderSpec> read_spec(const Architecture& architecture, const Config& config) {
  ConfigReader reader(config);
  DecoderSpec spec = architecture.describe(reader);
  if (Status status = reader.status(); !status) return status.error();
  return spec;
}

// Everything that inspect tells, gathered before any of it is printed.
struct Report {
  std::unique_ptr<Checkpoint> checkpoint;
  std::string architecture;
  DecoderSpec spec;
  ModelText text;
  std::map<std::string, FormatTotal> formats;
  FormatTotal total;
  uint64_t kv_bytes_per_token = 0;
};

Result<Report> examine(const std::string& model) {
  auto path = resolve_model(model);
  if (!path) return path.error();
  auto checkpoint = open_checkpoint(*path);
  if (!checkpoint) return checkpoint.error();
  auto architecture = find_architecture((*checkpoint)->config());
  if (!architecture) return architecture.error();
  auto spec = read_spec(**architecture, (*checkpoint)->config());
  if (!spec) return spec.error();
  auto text = load_model_text(*path, {});
  if (!text) return text.error();

  Report report;
  report.architecture = (*architecture)->name;
  report.kv_bytes_per_token = kv_bytes_per_token(*spec);
  report.spec = std::move(*spec);
  report.text = std::move(*text);
  report.formats = totals_by_format(**checkpoint);
  for (const auto& [name, format] : report.formats) {
    report.total.tensors += format.tensors;
    report.total.values += format.values;
    report.total.bytes += format.bytes;
  }
  report.checkpoint = std::move(*checkpoint);
  return report;
}

nlohmann::ordered_json to_json(const FormatTotal& total) {
  return {{"tensors", total.tensors}, {"values", total.values}, {"bytes", total.bytes}};
}

nlohmann::ordered_json to_json(const Report& report) {
  nlohmann::ordered_json json = {
      {"path", report.checkpoint->path()},       {"architecture", report.architecture},
      {"description", print(report.spec)},       {"num_parameters", report.total.values},
      {"weight_bytes", report.total.bytes},      {"kv_bytes_per_token", report.kv_bytes_per_token},
      {"max_position", report.spec.max_position}};
  for (const auto& [name, total] : report.formats) json["formats"][name] = to_json(total);
  json["chat_template"] = nullptr;
  if (report.text.chat_template) json["chat_template"] = report.text.chat_template->source();
  for (const StoredTensor& tensor : report.checkpoint->tensors()) {
    json["tensors"].push_back({{"name", tensor.name},
                               {"format", tensor.format->name},
                               {"shape", tensor.shape},
                               {"bytes", tensor.bytes}});
  }
  return json;
}

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

// The tensors of all layers that look alike, on one line.
void print_tensors(const Checkpoint& checkpoint) {
  static const std::regex layer_number("\\.[0-9]+\\.");
  std::map<std::string, int> lines;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    const std::string name = std::regex_replace(tensor.name, layer_number, ".*.");
    char line[256];
    std::snprintf(line, sizeof line, "  %-46s %-8s %-16s", name.c_str(),
                  std::string(tensor.format->name).c_str(), shape_text(tensor).c_str());
    ++lines[line];
  }
  std::printf("tensors\n");
  for (const auto& [line, count] : lines) std::printf("%s x%d\n", line.c_str(), count);
}

void print_memory(const Report& report) {
  const int32_t longest = report.spec.max_position;
  const uint64_t cache = report.kv_bytes_per_token * static_cast<uint64_t>(longest);
  std::printf("memory\n  weights %19.1f MiB\n  cache, a token %12.1f KiB (16-bit)\n",
              mib(report.total.bytes), mib(report.kv_bytes_per_token) * 1024);
  std::printf("  cache, %d tokens %*.1f MiB\n  weights and that %10.1f MiB\n", longest,
              static_cast<int>(13 - std::to_string(longest).size()), mib(cache),
              mib(report.total.bytes + cache));
}

void print_template(const ModelText& text) {
  if (text.chat_template) {
    std::printf("chat template\n%s\n", text.chat_template->source().c_str());
  } else if (!text.chat_template_error.empty()) {
    std::printf("chat template: cannot be used: %s\n", text.chat_template_error.c_str());
  } else {
    std::printf("chat template: none\n");
  }
}

void print_report(const Report& report) {
  std::printf("%s: %s\n\n%s\n\n", report.checkpoint->path().c_str(), report.architecture.c_str(),
              print(report.spec).c_str());
  std::printf("%-10s %9s %15s %15s\n", "format", "tensors", "values", "bytes");
  for (const auto& [name, total] : report.formats) print_row(name, total);
  print_row("total", report.total);
  std::printf("\n");
  print_memory(report);
  std::printf("\n");
  print_tensors(*report.checkpoint);
  std::printf("\n");
  print_template(report.text);
}

Status inspect(const InspectOptions& options) {
  auto report = examine(options.model);
  if (!report) return report.error();
  if (options.json) {
    using nlohmann::ordered_json;
    std::puts(to_json(*report).dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
  } else {
    print_report(*report);
  }
  return {};
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen) {
  auto [command, options] = add_command(
      app, chosen, "inspect",
      "Show a model's architecture, tensors, formats, memory and chat template", inspect);
  add_model(*command, options->model);
  command->add_flag("--json", options->json, "As JSON, each tensor by itself");
}

}  // namespace matador
