#include "backends/cuda/cublaslt.h"

#include <dlfcn.h>
#include <library_types.h>

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace matador::cuda {

// The part of cublasLt.h that is used here; the library's ABI has kept it since version 11.
struct CublasLtApi {
  using Status = int;
  using Object = void*;
  struct Algorithm {
    uint64_t data[8];
  };
  struct Candidate {
    Algorithm algorithm;
    size_t workspace_bytes;
    Status status;
    float waves;
    int reserved[4];
  };
  enum { kCompute32F = 68, kOpTransposed = 1 };
  enum { kDescTransposeA = 3 };
  enum {
    kPreferenceWorkspace = 1,
    kPreferenceReductions = 3,
    kPreferenceAlignmentA = 5,
    kPreferenceAlignmentD = 8
  };

  void* library = nullptr;
  Status (*create)(Object*);
  Status (*destroy)(Object);
  Status (*desc_create)(Object*, int compute, int scale_type);
  Status (*desc_destroy)(Object);
  Status (*desc_set)(Object, int attribute, const void*, size_t);
  Status (*layout_create)(Object*, int type, uint64_t rows, uint64_t cols, int64_t stride);
  Status (*layout_destroy)(Object);
  Status (*preference_create)(Object*);
  Status (*preference_destroy)(Object);
  Status (*preference_set)(Object, int attribute, const void*, size_t);
  Status (*heuristic)(Object handle, Object desc, Object a, Object b, Object c, Object d,
                      Object preference, int wanted, Candidate*, int* found);
  Status (*matmul)(Object handle, Object desc, const void* alpha, const void* a, Object a_layout,
                   const void* b, Object b_layout, const void* beta, const void* c, Object c_layout,
                   void* d, Object d_layout, const Algorithm*, void* workspace,
                   size_t workspace_bytes, cudaStream_t);

  ~CublasLtApi() {
    if (library != nullptr) dlclose(library);
  }

  // False where a function is missing.
  bool bind() {
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(create, "cublasLtCreate") && find(destroy, "cublasLtDestroy") &&
           find(desc_create, "cublasLtMatmulDescCreate") &&
           find(desc_destroy, "cublasLtMatmulDescDestroy") &&
           find(desc_set, "cublasLtMatmulDescSetAttribute") &&
           find(layout_create, "cublasLtMatrixLayoutCreate") &&
           find(layout_destroy, "cublasLtMatrixLayoutDestroy") &&
           find(preference_create, "cublasLtMatmulPreferenceCreate") &&
           find(preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
           find(preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
           find(heuristic, "cublasLtMatmulAlgoGetHeuristic") && find(matmul, "cublasLtMatmul");
  }
};

namespace {

// Sums of a split K by way of the workspace, in one order; not those in place.
constexpr uint32_t kReproducibleReductions = 2 | 4;
constexpr size_t kWorkspaceBytes = size_t{64} << 20;

void check_status(int status, const char* what) {
  if (status == 0) return;
  throw std::runtime_error(std::string(what) + " failed with status " + std::to_string(status));
}

int type_of(DType dtype) { return dtype == DType::f32 ? CUDA_R_32F : CUDA_R_16BF; }

}  // namespace

// Column by column, as the library sees it: D[rows, tokens] = A[cols, rows]^T B[cols, tokens].
struct CublasLt::Plan {
  const CublasLtApi& api;
  void* desc = nullptr;
  void* a = nullptr;
  void* b = nullptr;
  void* d = nullptr;
  CublasLtApi::Candidate choice{};

  explicit Plan(const CublasLtApi& lt) : api(lt) {}
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    if (desc != nullptr) api.desc_destroy(desc);
    for (void* layout : {a, b, d}) {
      if (layout != nullptr) api.layout_destroy(layout);
    }
  }

  void describe(const Shape& shape) {
    check_status(api.desc_create(&desc, CublasLtApi::kCompute32F, CUDA_R_32F), "a GEMM's setup");
    const int32_t transposed = CublasLtApi::kOpTransposed;
    check_status(api.desc_set(desc, CublasLtApi::kDescTransposeA, &transposed, sizeof(transposed)),
                 "a GEMM's setup");
    const auto layout = [&](void*& object, DType dtype, int64_t height, int64_t width,
                            int64_t stride) {
      check_status(api.layout_create(&object, type_of(dtype), static_cast<uint64_t>(height),
                                     static_cast<uint64_t>(width), stride),
                   "a GEMM's setup");
    };
    layout(a, DType::bf16, shape.cols, shape.rows, shape.cols);
    layout(b, DType::bf16, shape.cols, shape.tokens, shape.x_stride);
    layout(d, shape.y_dtype, shape.rows, shape.tokens, shape.y_stride);
  }

  void choose(void* handle) {
    void* preference = nullptr;
    check_status(api.preference_create(&preference), "a GEMM's setup");
    const auto set = [&](int attribute, auto value) {
      check_status(api.preference_set(preference, attribute, &value, sizeof(value)),
                   "a GEMM's setup");
    };
    set(CublasLtApi::kPreferenceWorkspace, uint64_t{kWorkspaceBytes});
    set(CublasLtApi::kPreferenceReductions, kReproducibleReductions);
    for (int i = CublasLtApi::kPreferenceAlignmentA; i <= CublasLtApi::kPreferenceAlignmentD; ++i) {
      set(i, uint32_t{16});
    }
    int found = 0;
    const int status = api.heuristic(handle, desc, a, b, d, d, preference, 1, &choice, &found);
    api.preference_destroy(preference);
    check_status(status, "choosing a GEMM");
    if (found == 0) throw std::runtime_error("cuBLASLt has no GEMM for a layer's shape");
  }
};

CublasLt::CublasLt(std::unique_ptr<CublasLtApi> api)
    : api_(std::move(api)), workspace_(kWorkspaceBytes) {
  check_status(api_->create(&handle_), "cublasLtCreate");
}

CublasLt::~CublasLt() {
  plans_.clear();
  if (handle_ != nullptr) api_->destroy(handle_);
}

std::unique_ptr<CublasLt> CublasLt::open() {
  auto api = std::make_unique<CublasLtApi>();
  for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                           "/usr/local/cuda/lib64/libcublasLt.so"}) {
    api->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (api->library != nullptr) break;
  }
  if (api->library == nullptr || !api->bind()) return nullptr;
  return std::unique_ptr<CublasLt>(new CublasLt(std::move(api)));
}

const CublasLt::Plan& CublasLt::plan_for(const Shape& shape) {
  std::unique_ptr<Plan>& plan = plans_[shape];
  if (plan == nullptr) {
    auto made = std::make_unique<Plan>(*api_);
    made->describe(shape);
    made->choose(handle_);
    plan = std::move(made);
  }
  return *plan;
}

void CublasLt::linear(const Tensor& x, const Weight& w, const Tensor& y, cudaStream_t stream) {
  const Plan& plan = plan_for({x.rows, w.rows, w.cols, x.stride, y.stride, y.dtype});
  const float one = 1, zero = 0;
  check_status(api_->matmul(handle_, plan.desc, &one, w.data, plan.a, x.data, plan.b, &zero, y.data,
                            plan.d, y.data, plan.d, &plan.choice.algorithm, workspace_.data(),
                            kWorkspaceBytes, stream),
               "cublasLtMatmul");
}

}  // namespace matador::cuda
