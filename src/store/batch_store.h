// BatchStore: the state of batches and of each of their lines. Thread-safe.
//
// A line's answer is recorded once: the first one stays. Output files are made of what is
// recorded, so however often the process is killed, each line is in them exactly once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"
#include "store/file_store.h"
#include "store/page.h"

namespace matador {

enum class BatchStatus : uint8_t {
  validating,
  failed,
  in_progress,
  finalizing,
  completed,
  expired,
  cancelling,
  cancelled,
};
inline constexpr int kNumBatchStatuses = 8;
// As OpenAI's API spells it.
std::string_view name_of(BatchStatus status);

struct BatchJob {
  std::string id;  // "batch_..."; given by the store
  std::string owner = {};
  std::string input_file_id = {}, endpoint = {}, completion_window = {};
  BatchStatus status = BatchStatus::validating;
  int64_t created_at = 0, expires_at = 0;  // Unix seconds
  // When it came to each status; absent where it has not.
  std::map<BatchStatus, int64_t> reached = {};
  std::string output_file_id = {}, error_file_id = {};  // "": none
  std::string metadata = {};                            // JSON, or ""
  std::string errors = {};                              // JSON: why it failed, or ""
  int64_t total = 0, completed = 0, failed = 0;         // lines
};

// Where a line is in the input file.
struct BatchLine {
  int64_t number = 0;  // from 1
  std::string custom_id;
  int64_t offset = 0, size = 0;  // bytes
};

struct BatchAnswer {
  int64_t line = 0;
  bool ok = true;    // into the output file; else into the error file
  std::string text;  // the line of that file
};

class BatchStore {
 public:
  BatchStore(Database& database, FileStore& files);

  // The id, status and times are filled in.
  BatchJob create(BatchJob batch, int64_t seconds_to_expiry);
  std::optional<BatchJob> find(std::string_view owner, std::string_view id) const;
  Page<BatchJob> list(std::string_view owner, const PageRequest& page) const;
  // Asks for its end; false where it has ended already, or is unknown.
  bool cancel(std::string_view owner, std::string_view id);
  // A batch that has not ended reads this file.
  bool uses(std::string_view input_file_id) const;

  // What a runner needs. The oldest that has not ended:
  std::optional<BatchJob> next() const;
  std::optional<BatchStatus> status(std::string_view id) const;
  void fail(std::string_view id, std::string_view errors);
  // From validating to in_progress, with its lines.
  void begin(std::string_view id, const std::vector<BatchLine>& lines);
  // Lines without an answer after a number, in order.
  std::vector<BatchLine> unanswered(std::string_view id, int64_t after, int64_t limit) const;
  void record(std::string_view id, const std::vector<BatchAnswer>& answers);
  // Every answer of one kind, in the order of the lines.
  void for_each_answer(std::string_view id, bool ok,
                       const std::function<void(std::string_view)>& use) const;
  // From in_progress to finalizing, from which only finish() leads on; false where it was cancelled
  // meanwhile.
  bool finalize(std::string_view id);
  // The end, with the files of its answers (written, not yet known), at once or not at all.
  struct Files {
    std::optional<StoredFile> output, errors;
  };
  void finish(std::string_view id, BatchStatus end, const Files& files);

 private:
  void move(std::string_view id, BatchStatus to);

  Database& database_;
  FileStore& files_;
};

}  // namespace matador
