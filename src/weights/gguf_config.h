// GGUF metadata under the keys of Hugging Face's config.json, so that a description of a model
// reads one set of names.
//
// Beyond config.json's own keys, a GGUF config can have:
//   rope_interleaved             true: q and k rows were permuted, rotate pairs (0,1), (2,3)...
//   rope_freq_factors            divisors of the rotary frequencies, one a pair (llama3 scaling)
//   norm_weights_include_offset  true: norm weights are stored with Gemma's + 1 already added
#pragma once

#include "core/config.h"
#include "core/result.h"
#include "weights/gguf.h"

namespace matador {

// An architecture that is not in our table keeps its GGUF name as "model_type".
Result<Config> gguf_config(const GgufFile& file);
// general.sampling.* as generation_config.json has it; empty where the file has none.
Config gguf_generation_config(const GgufFile& file);

}  // namespace matador
