// FormatList: formats as types, for code that is built once for each of them.
//
// A format is a struct in quant/formats/ with
//   static constexpr std::string_view name;   // "q4_0"
//   static constexpr int values;              // values a block holds, along a row
//   static constexpr int ggml_type;           // id in GGUF files, -1 where GGUF has none
//   struct Block;                             // the bytes as stored, little-endian
//   static void decode(const Block&, float* out);        // `values` floats
//   static void encode(const float* in, Block&);         // optional
#pragma once

#include <concepts>

namespace matador {

template <class F>
concept Encodable = requires(const float* in, typename F::Block& block) {
  F::encode(in, block);
};

template <class... Formats>
struct FormatList {
  static constexpr int size = sizeof...(Formats);

  // Calls visit.template operator()<F>() for every format F.
  template <class Visitor>
  static constexpr void for_each(Visitor&& visit) {
    (visit.template operator()<Formats>(), ...);
  }
};

}  // namespace matador
