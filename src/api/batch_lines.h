// The lines of a batch's files, JSON each: requests in, answers and errors out.
// https://platform.openai.com/docs/guides/batch
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.h"
#include "store/batch_store.h"

namespace matador {

inline constexpr size_t kMaxBatchLines = 50'000;  // OpenAI's

// Whatever is wrong with a line's form. What its body asks for is not looked at: that line alone
// will fail.
struct BatchFault {
  std::string code, message;
  std::string param = {};
  int64_t line = 0;  // from 1; 0: of the file as a whole
};
struct ScannedBatch {
  std::vector<BatchLine> lines;
  std::vector<BatchFault> faults;  // the first hundred
};
// `text`: the whole input file. Every line must call `endpoint`, by POST, under a custom_id of its
// own; blank lines are skipped, but counted.
ScannedBatch scan_batch(std::string_view text, std::string_view endpoint);
// As BatchJob::errors.
std::string batch_faults_text(const std::vector<BatchFault>& faults);

// The url of the first line, or "".
std::string first_batch_url(std::string_view text);
// The body of a line that was scanned; an error where the file has changed since.
ApiResult<std::string> batch_line_body(std::string_view line);

// A line of the output file (status 200), or of the error file. `body`: the answer's JSON.
BatchAnswer batch_answer(const BatchLine& line, int status, const std::string& body);
// A line that was never answered: "batch_expired", "batch_cancelled".
BatchAnswer batch_unanswered(const BatchLine& line, const std::string& code,
                             const std::string& message);

// Whose answer a line of an output file is; nothing where it is none.
std::optional<std::string> batch_answer_id(std::string_view text);

}  // namespace matador
