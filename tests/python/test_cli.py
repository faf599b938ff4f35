"""Every command of `matador`, through the binary, on SmolLM2."""

import json
import math
import os
import pty
import re
import select
import signal
import subprocess
import time
import urllib.request

from conftest import BINARY, MODELS, ROOT

PROMPT = [504, 3575, 282, 4649, 314]  # "The capital of France is"


def one_line_error(process, code=1):
    """The message of a failed command, which must be one line."""
    assert process.returncode == code
    assert process.stdout == ""
    assert re.fullmatch(r"matador: [^\n]+\n", process.stderr), process.stderr
    return process.stderr


def test_version_is_the_projects(matador):
    version = re.search(r"project\(matador VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert matador("--version").stdout == f"matador {version}\n"


def test_help_names_every_command_and_flag(matador):
    overview = matador("--help").stdout
    flags = {
        "run": ["--system", "--max-tokens", "--temperature", "--seed"],
        "serve": ["--host", "--port", "--served-model-name", "--api-key", "--dtype",
                  "--max-model-len", "--max-num-seqs", "--max-num-batched-tokens",
                  "--kv-cache-memory", "--threads", "--device",
                  "--kv-cache-dtype", "--gpu-memory-utilization", "--no-enable-prefix-caching", "--seed"],
        "bench": ["--num-prompts", "--input-len", "--output-len", "--concurrency", "--json",
                  "--random-weights", "--suite"],
        "logits": ["--tokens", "--dtype"],
        "generate": ["--tokens", "--max-tokens", "--ignore-eos", "--dtype"],
        "inspect": ["--json"],
        "tokenize": ["TEXT"],
        "detokenize": ["TOKENS"],
    }
    for command, names in flags.items():
        assert re.search(rf"^  {command} ", overview, re.MULTILINE)
        text = matador(command, "--help").stdout
        for name in names:
            assert name in text, (command, name)


def test_wrong_usage_exits_2_with_one_line(matador):
    assert "--bogus" in one_line_error(matador("serve", "x", "--bogus"), 2)
    assert "MODEL" in one_line_error(matador("run"), 2)
    assert "--dtype" in one_line_error(matador("serve", "x", "--dtype", "int3"), 2)
    assert "--port" in one_line_error(matador("serve", "x", "--port", "70000"), 2)
    one_line_error(matador(), 2)
    one_line_error(matador("fly"), 2)


def test_unknown_model_is_one_line_that_lists_the_installed(matador, smollm2):
    message = one_line_error(matador("run", "no-such-model", "hello"))
    assert "no-such-model" in message
    assert smollm2.stem in message


def test_broken_model_file_is_one_line_that_names_it(matador, tmp_path, smollm2):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(smollm2.read_bytes()[:1_000_000])
    assert "broken.gguf" in one_line_error(matador("generate", broken, "--tokens", "1"))


def test_tokenize_and_detokenize_are_inverse(matador, smollm2):
    answer = json.loads(matador("tokenize", smollm2, "The capital of France is").stdout)
    assert answer == {"count": 5, "tokens": PROMPT}
    text = matador("detokenize", smollm2, ",".join(map(str, PROMPT))).stdout
    assert text == "The capital of France is\n"


def test_generate_prints_greedy_tokens(matador, smollm2):
    def generate(*flags):
        process = matador("generate", smollm2, "--tokens", ",".join(map(str, PROMPT)), *flags)
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout)["tokens"]

    tokens = generate("--max-tokens", 8)
    assert len(tokens) == 8
    assert tokens == generate("--max-tokens", 8, "--threads", 1)
    assert tokens[:3] == generate("--max-tokens", 3)
    assert "Paris" in matador("detokenize", smollm2, ",".join(map(str, tokens))).stdout


def test_generate_goes_on_after_the_end_only_when_told(matador, smollm2):
    # <|im_start|>assistant\nYes.<|im_end|>: an end of text is near.
    prompt = json.loads(matador(
        "tokenize", smollm2, "<|im_start|>user\nSay yes.<|im_end|>\n<|im_start|>assistant\n"
    ).stdout)["tokens"]
    flags = ["--tokens", ",".join(map(str, prompt)), "--max-tokens", 60]
    short = json.loads(matador("generate", smollm2, *flags).stdout)["tokens"]
    long = json.loads(matador("generate", smollm2, *flags, "--ignore-eos").stdout)["tokens"]
    assert len(short) < len(long) == 60
    assert long[:len(short)] == short


def test_generate_names_a_token_outside_the_vocabulary(matador, smollm2):
    message = one_line_error(matador("generate", smollm2, "--tokens", "1,49152"))
    assert "49152" in message


def test_logits_has_one_row_for_each_position(matador, smollm2):
    tokens = ",".join(map(str, PROMPT))
    rows = json.loads(matador("logits", smollm2, "--tokens", tokens).stdout)["logits"]
    assert [len(row) for row in rows] == [49152] * len(PROMPT)
    assert all(math.isfinite(value) for row in rows for value in row)
    generated = json.loads(
        matador("generate", smollm2, "--tokens", tokens, "--max-tokens", 1).stdout)["tokens"]
    assert generated == [max(range(49152), key=rows[-1].__getitem__)]
    top = json.loads(matador("logits", smollm2, "--tokens", tokens, "--top", 3).stdout)
    for row, best in zip(rows, top["top_logits"], strict=True):
        assert [token for token, _ in best] == sorted(range(49152), key=lambda i: -row[i])[:3]


def test_logits_in_float32_are_near_the_fast_ones_but_not_them(matador, smollm2):
    tokens = ",".join(map(str, PROMPT))
    fast = json.loads(matador("logits", smollm2, "--tokens", tokens).stdout)["logits"][-1]
    exact = json.loads(
        matador("logits", smollm2, "--tokens", tokens, "--dtype", "float32").stdout)["logits"][-1]
    worst = max(abs(a - b) for a, b in zip(fast, exact))
    assert 0 < worst < 0.05 * (max(exact) - min(exact))


def test_inspect_tells_architecture_formats_memory_and_template(matador, smollm2):
    text = matador("inspect", smollm2).stdout
    for part in ["llama", "q4_1", "blk.*.attn_q.weight", "MiB", "<|im_start|>"]:
        assert part.lower() in text.lower(), part
    report = json.loads(matador("inspect", smollm2, "--json").stdout)
    assert report["num_parameters"] == 134_515_008
    assert report["kv_bytes_per_token"] == 30 * 2 * 3 * 64 * 2
    assert sum(t["bytes"] for t in report["tensors"]) == report["weight_bytes"]


def test_bench_reports_speed_latency_and_memory(matador, smollm2):
    report = json.loads(matador(
        "bench", smollm2, "--num-prompts", 3, "--input-len", 20, "--output-len", 5,
        "--concurrency", 2, "--json").stdout)
    assert report["num_prompts"] == 3
    for name in ["prefill_tokens_per_second", "decode_tokens_per_second", "ttft_p50_ms",
                 "ttft_p99_ms", "itl_p50_ms", "itl_p99_ms", "peak_memory_mib", "load_seconds"]:
        assert report[name] > 0, name
    profile = json.loads(matador(
        "bench", smollm2, "--num-prompts", 1, "--input-len", 20, "--output-len", 5, "--profile",
        "--json").stdout)
    assert profile["steps"] == 5
    assert profile["step_ms"] >= profile["step_device_ms"] > 0
    assert profile["step_host_ms"] > 0
    table = matador("bench", smollm2, "--num-prompts", 1, "--input-len", 4, "--output-len", 2)
    assert "decode_tokens_per_second" in table.stdout


def test_bench_needs_no_checkpoint_for_random_weights(matador, tmp_path):
    config = {"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 96,
              "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
              "vocab_size": 512, "max_position_embeddings": 64, "rms_norm_eps": 1e-5}
    (tmp_path / "config.json").write_text(json.dumps(config))
    report = tmp_path / "report.json"
    matador("bench", tmp_path, "--random-weights", "--num-prompts", 2, "--input-len", 8,
            "--output-len", 4, "--json", report)
    assert json.loads(report.read_text())["output_tokens_per_second"] > 0


def test_a_device_that_is_not_there_is_one_line_that_names_it(matador, smollm2):
    process = matador("generate", smollm2, "--tokens", "1,2", "--device", "cuda:99")
    assert "device: cuda:99 was asked for, but" in one_line_error(process, 1)


def test_run_answers_on_stdout_alone(matador, smollm2):
    def run(*prompt, **options):
        process = matador("run", smollm2, *prompt, "--temperature", 0, "--max-tokens", 30, **options)
        assert process.returncode == 0, process.stderr
        assert process.stderr == ""
        return process.stdout

    question = "Who wrote Romeo and Juliet?"
    answer = run(question)
    assert "Shakespeare" in answer
    assert "<|im_end|>" not in answer
    assert run(input=question) == answer


def test_run_finds_an_installed_model_by_name(matador, smollm2):
    environment = {**os.environ, "MATADOR_MODELS": str(MODELS)}
    process = matador("run", smollm2.stem, "Hi", "--max-tokens", 2, env=environment)
    assert process.returncode == 0, process.stderr


class Terminal:
    """A command on a pseudo-terminal."""

    def __init__(self, *command):
        self.main, child = pty.openpty()
        self.process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child,
                                        preexec_fn=lambda: os.login_tty(child))
        self.text = ""

    def expect(self, pattern, timeout=60):
        """Reads until the text unseen so far matches; returns it."""
        deadline = time.monotonic() + timeout
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"no {pattern!r} in {self.text!r}"
            if select.select([self.main], [], [], 0.1)[0]:
                self.text += os.read(self.main, 65536).decode(errors="replace")
        seen, self.text = self.text, ""
        return seen

    def type(self, text):
        os.write(self.main, text.encode())


def test_chat_remembers_streams_and_survives_ctrl_c(smollm2):
    def counts(text):
        """(tokens of the prompt, of the answer) as the line after an answer tells them."""
        found = re.search(r"\[(\d+) prompt tokens in [\d.]+ s; (\d+) tokens", text)
        return int(found[1]), int(found[2])

    chat = Terminal(str(BINARY), "run", str(smollm2), "--temperature", "0", "--max-tokens", "1000")
    chat.expect(r">>> $")
    chat.type("Who wrote Hamlet?\n")
    prompt, answer = counts(chat.expect(r"(?s)second\].*>>> $"))
    chat.type("Give me three tips for staying healthy.\n")
    assert counts(chat.expect(r"(?s)second\].*>>> $"))[0] > prompt + answer
    chat.type("Write a long story about a ship and its crew.\n")
    chat.expect(r"crew\.\r\n.*\w")
    chat.type("\x03")
    assert counts(chat.expect(r"(?s)second\].*>>> $", timeout=10))[1] < 1000
    chat.type("\x04")
    assert chat.process.wait(timeout=10) == 0


def wait_for_server(process):
    line = process.stdout.readline()
    address = re.search(r"http://\S+?:\d+", line)
    assert address, line
    return line, address[0]


def test_serve_prints_where_and_what_and_drains_on_sigterm(smollm2, tmp_path):
    process = subprocess.Popen(
        [BINARY, "serve", smollm2, "--port", "0", "--data-dir", tmp_path,
         "--served-model-name", "small", "tiny"],
        stdout=subprocess.PIPE, text=True)
    try:
        line, address = wait_for_server(process)
        assert "small, tiny" in line
        with urllib.request.urlopen(f"{address}/v1/models", timeout=30) as response:
            assert "small" in [model["id"] for model in json.load(response)["data"]]
        body = json.dumps({"model": "tiny", "prompt": "Once", "max_tokens": 40, "stream": True,
                           "ignore_eos": True})
        request = urllib.request.Request(f"{address}/v1/completions", body.encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            response.readline()
            process.send_signal(signal.SIGTERM)
            assert response.read().rstrip().endswith(b"data: [DONE]")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()


def test_serve_says_that_its_port_is_taken(matador, smollm2, tmp_path):
    first = subprocess.Popen([BINARY, "serve", "--model", smollm2, "--port", "0",
                              "--data-dir", tmp_path / "first"],
                             stdout=subprocess.PIPE, text=True)
    try:
        port = wait_for_server(first)[1].rsplit(":", 1)[1]
        assert port in one_line_error(matador("serve", smollm2, "--port", port,
                                              "--data-dir", tmp_path / "second"))
    finally:
        first.kill()
        first.wait()
