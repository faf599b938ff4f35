#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace matador {
namespace {

using testing::ElementsAre;
namespace fs = std::filesystem;

class StoreTest : public testing::Test {
 protected:
  StoreTest() {
    std::string name = fs::temp_directory_path() / "matador_store_XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~StoreTest() override { fs::remove_all(folder_); }

  std::unique_ptr<Store> open() {
    auto store = Store::open(folder_);
    EXPECT_TRUE(store.ok()) << store.error().message;
    return std::move(*store);
  }
  static StoredFile add_file(Store& store, const std::string& text, StoredFile about = {}) {
    auto file = store.files.create();
    file->write(text);
    return store.files.add(*file, std::move(about));
  }
  std::string content(const Store& store, const std::string& id) {
    std::stringstream text;
    text << std::ifstream(store.files.path_of(id)).rdbuf();
    return text.str();
  }
  size_t num_files() {
    auto all = fs::directory_iterator(folder_ + "/files");
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }
  static std::vector<std::string> ids(const Page<StoredFile>& page) {
    std::vector<std::string> all;
    for (const StoredFile& file : page.items) all.push_back(file.filename);
    return all;
  }
  static BatchJob begin_batch(Store& store, int64_t lines) {
    BatchJob batch = store.batches.create({.id = "", .owner = "a", .input_file_id = "file-x"}, 60);
    std::vector<BatchLine> all;
    for (int64_t i = 1; i <= lines; ++i) all.push_back({i, std::to_string(i), i * 10, 10});
    store.batches.begin(batch.id, all);
    return batch;
  }

  std::string folder_;
};

TEST_F(StoreTest, AFileIsThereAfterReopeningAndForItsOwnerOnly) {
  std::string id;
  {
    auto store = open();
    StoredFile file = add_file(*store, "hello", {.id = "", .owner = "a", .filename = "h.txt"});
    EXPECT_EQ(file.bytes, 5);
    id = file.id;
  }
  auto store = open();
  EXPECT_EQ(content(*store, id), "hello");
  EXPECT_EQ(store->files.find("a", id)->filename, "h.txt");
  EXPECT_FALSE(store->files.find("b", id));
  EXPECT_FALSE(store->files.remove("b", id));
  EXPECT_TRUE(store->files.remove("a", id));
  EXPECT_FALSE(store->files.find("a", id));
  EXPECT_EQ(num_files(), 0U);
}

TEST_F(StoreTest, AFileThatIsNeverAddedLeavesNothing) {
  {
    auto store = open();
    store->files.create()->write("half");
    EXPECT_EQ(num_files(), 0U);
    std::ofstream(folder_ + "/files/file-stray.part") << "of a killed process";
  }
  open();
  EXPECT_EQ(num_files(), 0U);
}

TEST_F(StoreTest, ListsInPagesBothWays) {
  auto store = open();
  for (const char* name : {"1", "2", "3", "4"})
    add_file(*store, name, {.id = "", .purpose = name[0] == '3' ? "x" : "y", .filename = name});
  auto first = store->files.list("", "", {.limit = 3});
  EXPECT_THAT(ids(first), ElementsAre("4", "3", "2"));
  EXPECT_TRUE(first.has_more);
  auto second = store->files.list("", "", {.limit = 3, .after = first.items.back().id});
  EXPECT_THAT(ids(second), ElementsAre("1"));
  EXPECT_FALSE(second.has_more);
  auto upward = store->files.list("", "y", {.limit = 2, .ascending = true});
  EXPECT_THAT(ids(upward), ElementsAre("1", "2"));
  EXPECT_THAT(ids(store->files.list("", "", {.limit = 9, .after = "unknown"})), ElementsAre());
}

TEST_F(StoreTest, AnExpiredFileIsGone) {
  auto store = open();
  StoredFile file = add_file(*store, "old", {.id = "", .expires_at = 1});
  EXPECT_FALSE(store->files.find("", file.id));
  EXPECT_TRUE(store->files.list("", "", {}).items.empty());
  store->files.remove_expired();
  EXPECT_EQ(num_files(), 0U);
}

TEST_F(StoreTest, OneProcessUsesAFolder) {
  auto store = open();
  pid_t child = fork();
  if (child == 0) _exit(Store::open(folder_).ok() ? 1 : 0);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(StoreTest, TheFirstAnswerOfALineStays) {
  auto store = open();
  BatchJob batch = begin_batch(*store, 3);
  store->batches.record(batch.id, {{2, true, "two"}});
  store->batches.record(batch.id, {{2, false, "again"}, {1, false, "one"}});
  BatchJob now = *store->batches.find("a", batch.id);
  EXPECT_EQ(now.total, 3);
  EXPECT_EQ(now.completed, 1);
  EXPECT_EQ(now.failed, 1);
  auto left = store->batches.unanswered(batch.id, 0, 10);
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].custom_id, "3");
  EXPECT_EQ(left[0].offset, 30);
  std::vector<std::string> good;
  store->batches.for_each_answer(batch.id, true, [&](auto text) { good.emplace_back(text); });
  EXPECT_THAT(good, ElementsAre("two"));
}

TEST_F(StoreTest, AnAnswerThatWasRecordedSurvivesAKill) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    auto store = open();
    BatchJob batch = begin_batch(*store, 2);
    store->batches.record(batch.id, {{1, true, "one"}});
    if (write(ready[1], "x", 1) != 1) _exit(1);
    pause();
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  auto store = open();
  BatchJob batch = *store->batches.next();
  EXPECT_EQ(batch.status, BatchStatus::in_progress);
  EXPECT_EQ(batch.completed, 1);
  EXPECT_EQ(store->batches.unanswered(batch.id, 0, 10).size(), 1U);
}

TEST_F(StoreTest, ABatchEndsOnceAndWithItsFiles) {
  auto store = open();
  BatchJob batch = begin_batch(*store, 1);
  EXPECT_TRUE(store->batches.uses("file-x"));
  store->batches.finalize(batch.id);
  EXPECT_FALSE(store->batches.cancel("a", batch.id));
  StoredFile output{.id = "file-out", .owner = "a"};
  store->batches.finish(batch.id, BatchStatus::completed, {.output = output, .errors = {}});
  BatchJob done = *store->batches.find("a", batch.id);
  EXPECT_EQ(done.status, BatchStatus::completed);
  EXPECT_EQ(done.output_file_id, "file-out");
  EXPECT_EQ(done.error_file_id, "");
  EXPECT_EQ(done.reached.size(), 3U);
  EXPECT_TRUE(store->files.find("a", "file-out"));
  EXPECT_FALSE(store->batches.next());
  EXPECT_FALSE(store->batches.uses("file-x"));
}

TEST_F(StoreTest, ABatchIsCancelledByItsOwnerOnly) {
  auto store = open();
  BatchJob batch = begin_batch(*store, 1);
  EXPECT_FALSE(store->batches.cancel("b", batch.id));
  EXPECT_TRUE(store->batches.cancel("a", batch.id));
  EXPECT_EQ(*store->batches.status(batch.id), BatchStatus::cancelling);
}

TEST_F(StoreTest, UsageAddsUpByOwner) {
  auto store = open();
  for (const char* owner : {"a", "b", "a"})
    store->usage.add({.owner = owner, .model = "m", .num_requests = 1, .output_tokens = 5});
  std::string owner = "a";
  int64_t tokens = 0, all = 0;
  for (const auto& record : store->usage.between(0, INT64_MAX, &owner))
    tokens += record.output_tokens;
  for (const auto& record : store->usage.between(0, INT64_MAX)) all += record.output_tokens;
  EXPECT_EQ(tokens, 10);
  EXPECT_EQ(all, 15);
}

TEST_F(StoreTest, RefusesAFolderThatCannotBe) {
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_FALSE(Store::open(folder_ + "/file/below").ok());
}

}  // namespace
}  // namespace matador
