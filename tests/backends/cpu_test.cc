// What only the CPU backend has: its arena, its choice of instructions.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "backends/cpu/arena.h"
#include "core/file.h"
#include "harness.h"

namespace matador {
namespace {

using cpu::Arena;

TEST(Arena, GivesAlignedMemoryThatDoesNotOverlap) {
  Arena arena;
  std::vector<std::pair<std::byte*, size_t>> taken;
  for (size_t size : {size_t{0}, size_t{1}, size_t{100}, size_t{3} << 20, size_t{64}}) {
    std::byte* data = arena.allocate(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U);
    std::memset(data, static_cast<int>(taken.size()), size);
    taken.push_back({data, size});
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    for (size_t j = 0; j < taken[i].second; ++j) {
      ASSERT_EQ(taken[i].first[j], static_cast<std::byte>(i));
    }
  }
}

TEST(Arena, ReusesWhatWasNotKeptAndNothingElse) {
  Arena arena;
  arena.allocate(1000);
  std::byte* kept = arena.allocate(1000);
  std::memset(kept, 7, 1000);
  for (int round = 0; round < 100; ++round) {
    const Arena::Range live[] = {{kept, 1000}};
    arena.keep(live);
    for (int i = 0; i < 50; ++i) std::memset(arena.allocate(5000), 9, 5000);
  }
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(kept[i], std::byte{7});
}

TEST(CpuBackend, RefusesInstructionsThatTheMachineLacks) {
  const std::vector<Isa> isas = available_isas();
  for (Isa isa : {Isa::portable, Isa::avx2, Isa::avx512, Isa::avx512_vnni, Isa::avx512_bf16}) {
    const bool available = std::find(isas.begin(), isas.end(), isa) != isas.end();
    if (available) {
      EXPECT_NO_THROW(make_cpu_backend({.threads = 1, .isa = isa}));
    } else {
      EXPECT_THROW(make_cpu_backend({.threads = 1, .isa = isa}), std::runtime_error);
    }
  }
}

// Resident pages of the mapping that begins at `address`, in KiB, as Linux counts them.
int64_t resident_kib(const void* address) {
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<uintptr_t>(address) << '-';
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) inside = line.starts_with(begin.str());
    if (inside && line.starts_with("Rss:")) return std::stoll(line.substr(4));
  }
  return -1;
}

TEST(CpuBackend, GivesBackTheFilesPagesOnceItHasItsOwnCopy) {
  const std::string path = ::testing::TempDir() + "/matador_mapped_weight";
  HostWeight weight = testing::make_weight(*find_format("q4_0"), 1024, 1024, 1, Precision::fast);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(weight.data), weight.rows * weight.format->bytes(1024));
  const auto file = MappedFile::open(path).value();
  weight.data = file->bytes().data();
  weight.owner = file;
  weight.mapped = true;
  const auto backend = make_cpu_backend({.threads = 1, .isa = {}});
  const Weight loaded = backend->load(std::move(weight));
  EXPECT_EQ(resident_kib(file->bytes().data()), 0);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace matador
