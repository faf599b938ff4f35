// What a backend is told of where a weight lies.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/reference/reference.h"
#include "models/model.h"
#include "weights/checkpoint.h"

namespace matador {
namespace {

class RecordingBackend final : public Backend {
 public:
  DeviceInfo info() const override { return host_->info(); }
  Weight load(HostWeight weight) override {
    const bool is_vector = weight.rows == 1;
    (is_vector ? vectors : matrices).push_back(weight.mapped);
    return host_->load(std::move(weight));
  }
  std::unique_ptr<Buffer> allocate(size_t bytes) override { return host_->allocate(bytes); }
  int64_t kv_block_bytes(const KvLayer& kv) const override { return host_->kv_block_bytes(kv); }
  void copy(void* to, const void* from, size_t bytes) override { host_->copy(to, from, bytes); }
  void plan(const Batch& batch) override { host_->plan(batch); }
  void run(StepKey key, const Program& program) override { host_->run(key, program); }
  std::span<const float> to_host(const Tensor& tensor) override { return host_->to_host(tensor); }

  std::vector<bool> vectors, matrices;  // of each weight: is it mapped?

 private:
  std::shared_ptr<Backend> host_ = make_reference_backend();
};

TEST(MappedWeights, AreTheMatricesOfAFileAndNotTheVectorsDecodedFromIt) {
  for (const char* name : {"/models/llama", "/models/llama/model.gguf"}) {
    const auto checkpoint = open_checkpoint(std::string(MATADOR_TEST_DATA) + name).value();
    RecordingBackend backend;
    ASSERT_TRUE(load_model(*checkpoint, backend, {}).ok());
    EXPECT_EQ(backend.matrices, std::vector<bool>(backend.matrices.size(), true)) << name;
    EXPECT_EQ(backend.vectors, std::vector<bool>(backend.vectors.size(), false)) << name;
    EXPECT_FALSE(backend.matrices.empty());
    EXPECT_FALSE(backend.vectors.empty());
  }
}

}  // namespace
}  // namespace matador
