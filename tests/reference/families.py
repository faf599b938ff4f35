"""Decoders whose code is on the hub but not in transformers, written in plain torch from their
published descriptions. Each family says which tensors a config asks for, and computes logits.

`native` gives, where the maths allows, a config and tensors that make a class of transformers
compute the same: make_tiny.py holds each family to it.
"""

import math

import torch

from blocks import alibi, attend, layer_norm, linear, normalize, rms_norm, rotate, silu


class Llama:
    """Aquila, XVERSE, and what the others differ from."""

    layer = "model.layers.{}."
    attention, mlp = "self_attn.", "mlp."
    input_norm, mlp_norm = "input_layernorm", "post_attention_layernorm"
    ends = {"embed": "model.embed_tokens", "norm": "model.norm", "head": "lm_head"}
    norm_bias = False

    def __init__(self, config):
        self.config = config
        self.hidden = config["hidden_size"]
        self.layers = config.get("num_hidden_layers")
        self.heads = config["num_attention_heads"]
        self.kv_heads = config.get("num_key_value_heads") or self.heads
        self.head_dim = config.get("head_dim") or self.hidden // self.heads
        self.inner = config.get("intermediate_size")
        self.vocab = config["vocab_size"]
        self.eps = config.get("rms_norm_eps", 1e-6)
        self.base = config.get("rope_theta", 10000.0)
        self.tied = config.get("tie_word_embeddings", False)

    def shapes(self):
        shapes = {
            self.ends["embed"] + ".weight": (self.vocab, self.hidden),
            self.ends["norm"] + ".weight": (self.hidden,),
        }
        if self.norm_bias:
            shapes[self.ends["norm"] + ".bias"] = (self.hidden,)
        if not self.tied:
            shapes[self.ends["head"] + ".weight"] = (self.vocab, self.hidden)
        for i in range(self.layers):
            prefix = self.layer.format(i)
            shapes |= {prefix + name: shape for name, shape in self.layer_shapes(i).items()}
        return shapes

    def layer_shapes(self, index):
        norms = {
            f"{norm}.{part}": (self.hidden,)
            for norm in (self.input_norm, self.mlp_norm)
            for part in (("weight", "bias") if self.norm_bias else ("weight",))
        }
        return norms | self.attention_shapes(index) | self.mlp_shapes()

    def attention_shapes(self, index):
        kv_heads = self.kv_heads_of(index)
        widths = {"q": self.heads, "k": kv_heads, "v": kv_heads}
        shapes = {
            f"self_attn.{name}_proj.weight": (heads * self.head_dim, self.hidden)
            for name, heads in widths.items()
        }
        shapes["self_attn.o_proj.weight"] = (self.hidden, self.heads * self.head_dim)
        return shapes

    def mlp_shapes(self):
        return {
            "mlp.gate_proj.weight": (self.inner, self.hidden),
            "mlp.up_proj.weight": (self.inner, self.hidden),
            "mlp.down_proj.weight": (self.hidden, self.inner),
        }

    def kv_heads_of(self, index):
        return self.kv_heads

    def logits(self, weights, tokens):
        x = self.embed(weights, torch.tensor(tokens))
        for i in range(self.layers):
            w = {
                name.removeprefix(self.layer.format(i)): tensor
                for name, tensor in weights.items()
                if name.startswith(self.layer.format(i))
            }
            x = x + self.residual * self.attend(w, self.norm(x, w, self.input_norm), i)
            x = x + self.residual * self.feed_forward(w, self.norm(x, w, self.mlp_norm))
        return self.head(weights, self.norm(x, weights, self.ends["norm"]))

    residual = 1.0

    def embed(self, weights, tokens):
        return weights[self.ends["embed"] + ".weight"][tokens]

    def norm(self, x, weights, name):
        return rms_norm(x, weights[name + ".weight"], self.eps)

    def head(self, weights, x):
        return x @ weights[self.ends["embed" if self.tied else "head"] + ".weight"].T

    def attend(self, w, x, index):
        q, k, v = self.qkv(w, x, index)
        return self.out(w, attend(self.turn(q), self.turn(k), v, self.scale(), self.bias(len(x))))

    def qkv(self, w, x, index):
        parts = (linear(x, w, f"self_attn.{name}_proj") for name in "qkv")
        return [part.unflatten(-1, (-1, self.head_dim)) for part in parts]

    def turn(self, x):
        return rotate(x, self.base, self.head_dim)

    def scale(self):
        return self.head_dim**-0.5

    def bias(self, tokens):
        return None

    def out(self, w, x):
        return linear(x, w, "self_attn.o_proj")

    def feed_forward(self, w, x):
        gate = silu(linear(x, w, "mlp.gate_proj"))
        return linear(gate * linear(x, w, "mlp.up_proj"), w, "mlp.down_proj")

    def native(self, weights):
        config = {key: value for key, value in self.config.items() if value is not None}
        return config | {"architectures": ["LlamaForCausalLM"], "model_type": "llama"}, weights


class Orion(Llama):
    norm_bias = True

    def norm(self, x, weights, name):
        return layer_norm(x, weights[name + ".weight"], weights[name + ".bias"], self.eps)

    def native(self, weights):
        config, weights = super().native(weights)
        other = {"layer_norm_eps": self.eps, "partial_rotary_factor": 1.0}
        return config | other | {"architectures": [], "model_type": "stablelm"}, weights


class InternLm(Llama):
    def attention_shapes(self, index):
        shapes = super().attention_shapes(index)
        biases = {name[: -len("weight")] + "bias": shape[:1] for name, shape in shapes.items()}
        return shapes | (biases if self.config["bias"] else {})

    def native(self, weights):
        config, weights = super().native(weights)
        return config | {"attention_bias": self.config["bias"]}, weights


class InternLm3(Llama):
    def attention_shapes(self, index):
        shapes = super().attention_shapes(index)
        for name in "qkv" if self.config["qkv_bias"] else "":
            shapes[f"self_attn.{name}_proj.bias"] = shapes[f"self_attn.{name}_proj.weight"][:1]
        return shapes

    def native(self, weights):
        config, weights = super().native(weights)
        return config | {"architectures": [], "model_type": "qwen2"}, weights


class InternLm2(Llama):
    input_norm, mlp_norm = "attention_norm", "ffn_norm"
    ends = {"embed": "model.tok_embeddings", "norm": "model.norm", "head": "output"}

    def attention_shapes(self, index):
        width = (self.heads + 2 * self.kv_heads) * self.head_dim
        return {
            "attention.wqkv.weight": (width, self.hidden),
            "attention.wo.weight": (self.hidden, self.heads * self.head_dim),
        }

    def mlp_shapes(self):
        return {
            "feed_forward.w1.weight": (self.inner, self.hidden),
            "feed_forward.w3.weight": (self.inner, self.hidden),
            "feed_forward.w2.weight": (self.hidden, self.inner),
        }

    def qkv(self, w, x, index):
        group = self.heads // self.kv_heads
        parts = linear(x, w, "attention.wqkv").unflatten(-1, (-1, group + 2, self.head_dim))
        return parts[:, :, :group].flatten(1, 2), parts[:, :, -2], parts[:, :, -1]

    def out(self, w, x):
        return linear(x, w, "attention.wo")

    def feed_forward(self, w, x):
        gate = silu(linear(x, w, "feed_forward.w1"))
        return linear(gate * linear(x, w, "feed_forward.w3"), w, "feed_forward.w2")

    def native(self, weights):
        names = {
            "model.tok_embeddings": "model.embed_tokens",
            "output.weight": "lm_head.weight",
            "attention_norm": "input_layernorm",
            "ffn_norm": "post_attention_layernorm",
            "attention.wo": "self_attn.o_proj",
            "feed_forward.w1": "mlp.gate_proj",
            "feed_forward.w3": "mlp.up_proj",
            "feed_forward.w2": "mlp.down_proj",
        }
        group = self.heads // self.kv_heads
        renamed = {}
        for name, tensor in weights.items():
            if "wqkv" in name:
                parts = tensor.unflatten(0, (-1, group + 2, self.head_dim))
                stem = name.split("attention.wqkv")[0] + "self_attn."
                renamed[stem + "q_proj.weight"] = parts[:, :group].flatten(0, 2)
                renamed[stem + "k_proj.weight"] = parts[:, -2].flatten(0, 1)
                renamed[stem + "v_proj.weight"] = parts[:, -1].flatten(0, 1)
                continue
            for old, new in names.items():
                name = name.replace(old, new)
            renamed[name] = tensor
        return super().native(weights)[0], renamed


class Baichuan(Llama):
    """7B; 13B where the config has no max_position_embeddings; 2 where it has z_loss_weight."""

    def attention_shapes(self, index):
        return {
            "self_attn.W_pack.weight": (3 * self.hidden, self.hidden),
            "self_attn.o_proj.weight": (self.hidden, self.hidden),
        }

    @property
    def rotates(self):
        return "max_position_embeddings" in self.config

    def qkv(self, w, x, index):
        packed = linear(x, w, "self_attn.W_pack").unflatten(-1, (3, self.heads, self.head_dim))
        return packed.unbind(1)

    def turn(self, x):
        return super().turn(x) if self.rotates else x

    def bias(self, tokens):
        return None if self.rotates else alibi(tokens, self.heads)

    def head(self, weights, x):
        head = weights["lm_head.weight"]
        return x @ (normalize(head) if "z_loss_weight" in self.config else head).T

    def native(self, weights):
        if not self.rotates:
            return None
        split = {}
        for name, tensor in weights.items():
            if "W_pack" in name:
                for part, rows in zip("qkv", tensor.chunk(3)):
                    split[name.replace("W_pack", part + "_proj")] = rows
            else:
                head = name == "lm_head.weight" and "z_loss_weight" in self.config
                split[name] = normalize(tensor) if head else tensor
        return super().native(weights)[0], split


class MiniCpm(Llama):
    def __init__(self, config):
        super().__init__(config)
        self.tied = config.get("tie_word_embeddings", True)
        self.residual = config["scale_depth"] / math.sqrt(self.layers)

    def embed(self, weights, tokens):
        return super().embed(weights, tokens) * self.config["scale_emb"]

    def head(self, weights, x):
        return super().head(weights, x / (self.hidden / self.config["dim_model_base"]))

    def native(self, weights):
        config, weights = super().native(weights)
        factors = {
            "tie_word_embeddings": self.tied,
            "attention_multiplier": self.scale(),
            "embedding_multiplier": self.config["scale_emb"],
            "residual_multiplier": self.residual,
            "logits_scaling": self.hidden / self.config["dim_model_base"],
        }
        return config | factors | {"architectures": [], "model_type": "granite"}, weights


class Deci(Llama):
    """kv heads by layer; or, with block_configs, sub-layers that a search has left out."""

    def block(self, index):
        return self.config["block_configs"][index] if "block_configs" in self.config else None

    def kv_heads_of(self, index):
        if self.block(index):
            return self.heads // (self.block(index)["attention"]["n_heads_in_group"] or 1)
        return self.config["num_key_value_heads_per_layer"][index]

    def layer_shapes(self, index):
        block = self.block(index)
        if not block:
            return super().layer_shapes(index)
        shapes = {}
        if not block["attention"]["no_op"]:
            shapes |= {"input_layernorm.weight": (self.hidden,)} | self.attention_shapes(index)
        if not block["ffn"]["no_op"]:
            width = int(2 * block["ffn"]["ffn_mult"] * self.hidden / 3)
            self.inner = (width + 255) // 256 * 256
            shapes |= {"post_attention_layernorm.weight": (self.hidden,)} | self.mlp_shapes()
        return shapes

    def norm(self, x, weights, name):
        return super().norm(x, weights, name) if name + ".weight" in weights else x

    def attend(self, w, x, index):
        return super().attend(w, x, index) if "self_attn.q_proj.weight" in w else 0

    def feed_forward(self, w, x):
        return super().feed_forward(w, x) if "mlp.up_proj.weight" in w else 0

    def native(self, weights):
        if "block_configs" in self.config:
            return None
        same = {}
        for name, tensor in weights.items():
            if "k_proj" in name or "v_proj" in name:
                heads = tensor.unflatten(0, (-1, self.head_dim))
                tensor = heads.repeat_interleave(self.heads // len(heads), 0).flatten(0, 1)
            same[name] = tensor
        return super().native(weights)[0], same


class Qwen(Llama):
    layer = "transformer.h.{}."
    input_norm, mlp_norm = "ln_1", "ln_2"
    ends = {"embed": "transformer.wte", "norm": "transformer.ln_f", "head": "lm_head"}

    def __init__(self, config):
        super().__init__(config)
        self.head_dim = config["kv_channels"]
        self.eps = config["layer_norm_epsilon"]
        self.base = config["rotary_emb_base"]
        self.inner = config["intermediate_size"] // 2

    def attention_shapes(self, index):
        width = self.heads * self.head_dim
        return {
            "attn.c_attn.weight": (3 * width, self.hidden),
            "attn.c_attn.bias": (3 * width,),
            "attn.c_proj.weight": (self.hidden, width),
        }

    def mlp_shapes(self):
        return {
            "mlp.w1.weight": (self.inner, self.hidden),
            "mlp.w2.weight": (self.inner, self.hidden),
            "mlp.c_proj.weight": (self.hidden, self.inner),
        }

    def qkv(self, w, x, index):
        packed = linear(x, w, "attn.c_attn").unflatten(-1, (3, self.heads, self.head_dim))
        return packed.unbind(1)

    def out(self, w, x):
        return linear(x, w, "attn.c_proj")

    def feed_forward(self, w, x):
        return linear(linear(x, w, "mlp.w1") * silu(linear(x, w, "mlp.w2")), w, "mlp.c_proj")

    def native(self, weights):
        names = {
            "transformer.wte": "model.embed_tokens",
            "transformer.ln_f": "model.norm",
            "transformer.h": "model.layers",
            "ln_1": "input_layernorm",
            "ln_2": "post_attention_layernorm",
            "attn.c_proj": "self_attn.o_proj",
            "mlp.w1": "mlp.up_proj",
            "mlp.w2": "mlp.gate_proj",
            "mlp.c_proj": "mlp.down_proj",
        }
        renamed = {}
        for name, tensor in weights.items():
            for old, new in names.items():
                name = name.replace(old, new)
            if "c_attn" in name:
                for part, rows in zip("qkv", tensor.chunk(3)):
                    renamed[name.replace("attn.c_attn", f"self_attn.{part}_proj")] = rows
            else:
                renamed[name] = tensor
        other = {
            "architectures": [],
            "model_type": "qwen2",
            "intermediate_size": self.inner,
            "rms_norm_eps": self.eps,
            "rope_theta": self.base,
            "num_key_value_heads": self.heads,
            "head_dim": self.head_dim,
        }
        return super().native(weights)[0] | other, renamed


class ChatGlm(Llama):
    layer = "transformer.encoder.layers.{}."
    ends = {
        "embed": "transformer.embedding.word_embeddings",
        "norm": "transformer.encoder.final_layernorm",
        "head": "transformer.output_layer",
    }

    def __init__(self, config):
        super().__init__(config | {"vocab_size": config["padded_vocab_size"]})
        self.layers = config["num_layers"]
        self.head_dim = config["kv_channels"]
        self.kv_heads = (
            config["multi_query_group_num"] if config["multi_query_attention"] else self.heads
        )
        self.inner = config["ffn_hidden_size"]
        self.eps = config["layernorm_epsilon"]
        self.base = 10000.0 * config.get("rope_ratio", 1)

    def attention_shapes(self, index):
        width = (self.heads + 2 * self.kv_heads) * self.head_dim
        return {
            "self_attention.query_key_value.weight": (width, self.hidden),
            "self_attention.query_key_value.bias": (width,),
            "self_attention.dense.weight": (self.hidden, self.heads * self.head_dim),
        }

    def mlp_shapes(self):
        return {
            "mlp.dense_h_to_4h.weight": (2 * self.inner, self.hidden),
            "mlp.dense_4h_to_h.weight": (self.hidden, self.inner),
        }

    def qkv(self, w, x, index):
        heads = linear(x, w, "self_attention.query_key_value").unflatten(-1, (-1, self.head_dim))
        return heads.split((self.heads, self.kv_heads, self.kv_heads), 1)

    def turn(self, x):
        return rotate(x, self.base, self.head_dim // 2, pairs=True)

    def out(self, w, x):
        return linear(x, w, "self_attention.dense")

    def feed_forward(self, w, x):
        gate, up = linear(x, w, "mlp.dense_h_to_4h").chunk(2, -1)
        return linear(silu(gate) * up, w, "mlp.dense_4h_to_h")

    def native(self, weights):
        names = {
            "transformer.embedding.word_embeddings": "model.embed_tokens",
            "transformer.encoder.final_layernorm": "model.norm",
            "transformer.output_layer": "lm_head",
            "transformer.encoder": "model",
            "self_attention.dense": "self_attn.o_proj",
            "mlp.dense_h_to_4h": "mlp.gate_up_proj",
            "mlp.dense_4h_to_h": "mlp.down_proj",
        }
        renamed = {}
        for name, tensor in weights.items():
            for old, new in names.items():
                name = name.replace(old, new)
            if "query_key_value" in name:
                widths = [n * self.head_dim for n in (self.heads, self.kv_heads, self.kv_heads)]
                for part, rows in zip("qkv", tensor.split(widths)):
                    renamed[name.replace("self_attention.query_key_value", f"self_attn.{part}_proj")] = rows
            else:
                renamed[name] = tensor
        config = {
            "architectures": [],
            "model_type": "glm",
            "pad_token_id": 0,
            "vocab_size": self.vocab,
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "intermediate_size": self.inner,
            "rms_norm_eps": self.eps,
            "rope_theta": self.base,
        }
        return config, renamed


class Jais(Llama):
    """Matrices are [in, out]."""

    layer = "transformer.h.{}."
    input_norm, mlp_norm = "ln_1", "ln_2"
    ends = {"embed": "transformer.wte", "norm": "transformer.ln_f"}
    norm_bias = True

    def __init__(self, config):
        usual = {"hidden_size": config["n_embd"], "num_attention_heads": config["n_head"]}
        super().__init__(config | usual)
        self.layers = config["n_layer"]
        self.inner = config["n_inner"]
        self.eps = config["layer_norm_epsilon"]
        self.tied = True

    def attention_shapes(self, index):
        return {
            "attn.c_attn.weight": (self.hidden, 3 * self.hidden),
            "attn.c_attn.bias": (3 * self.hidden,),
            "attn.c_proj.weight": (self.hidden, self.hidden),
            "attn.c_proj.bias": (self.hidden,),
        }

    def mlp_shapes(self):
        shapes = {}
        for name, size in (("c_fc", (self.hidden, self.inner)), ("c_fc2", (self.hidden, self.inner)),
                           ("c_proj", (self.inner, self.hidden))):
            shapes[f"mlp.{name}.weight"], shapes[f"mlp.{name}.bias"] = size, size[1:]
        return shapes

    def norm(self, x, weights, name):
        return layer_norm(x, weights[name + ".weight"], weights[name + ".bias"], self.eps)

    @staticmethod
    def conv(x, w, name):
        return x @ w[name + ".weight"] + w[name + ".bias"]

    def embed(self, weights, tokens):
        return super().embed(weights, tokens) * self.config["mup_embeddings_scale"]

    def qkv(self, w, x, index):
        packed = self.conv(x, w, "attn.c_attn").unflatten(-1, (3, self.heads, self.head_dim))
        return packed.unbind(1)

    def turn(self, x):
        return x

    def bias(self, tokens):
        return alibi(tokens, self.heads)

    def scale(self):
        return 1 / self.head_dim if self.config["mup_scale_qk_dot_by_d"] else super().scale()

    def out(self, w, x):
        return self.conv(x, w, "attn.c_proj")

    def feed_forward(self, w, x):
        inner = self.conv(x, w, "mlp.c_fc") * silu(self.conv(x, w, "mlp.c_fc2"))
        return self.conv(inner, w, "mlp.c_proj")

    def head(self, weights, x):
        factor = self.config["mup_output_alpha"] * self.config["mup_width_scale"]
        return super().head(weights, x) * factor

    def native(self, weights):
        return None


FAMILIES = {
    "aquila": Llama,
    "baichuan": Baichuan,
    "chatglm": ChatGlm,
    "deci": Deci,
    "internlm": InternLm,
    "internlm2": InternLm2,
    "internlm3": InternLm3,
    "jais": Jais,
    "minicpm": MiniCpm,
    "nemotron-nas": Deci,
    "orion": Orion,
    "qwen": Qwen,
    "xverse": Llama,
}
