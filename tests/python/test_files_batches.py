"""Files, batches, keys and usage through the official OpenAI client and a killed server."""

import collections
import json
import os
import subprocess
import time

import httpx
import openai
import pytest

from conftest import BINARY, MODELS

MODEL = os.environ.get("MATADOR_TEST_MODEL", str(MODELS / "smollm2.gguf"))
NAME = "test-model"
LINES = int(os.environ.get("MATADOR_BATCH_LINES", "200"))


class Serve:
    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [BINARY, "serve", MODEL, "--port", "0", "--served-model-name", NAME,
             "--max-model-len", "512", "--data-dir", folder / "data", *arguments],
            stdout=subprocess.PIPE, stderr=open(folder / "log", "a"), text=True)
        line = self.process.stdout.readline()
        assert "http://" in line, f"no address in {line!r}; {open(folder / 'log').read()}"
        self.root = "http://" + line.split("http://")[1].split("/")[0].strip()

    def client(self, key="none"):
        return openai.OpenAI(base_url=self.root + "/v1", api_key=key, max_retries=0, timeout=120)

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    assert BINARY.exists(), f"{BINARY} is not built; run `make build`"
    running = Serve(tmp_path_factory.mktemp("files"))
    yield running
    running.kill()


@pytest.fixture
def client(server):
    return server.client()


def request(custom_id, text="Say hi.", max_tokens=4, **more):
    body = {"model": NAME, "messages": [{"role": "user", "content": text}],
            "max_tokens": max_tokens, "temperature": 0, **more}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def upload(client, lines):
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    return client.files.create(file=("in.jsonl", text.encode()), purpose="batch")


def start(client, lines, **more):
    arguments = {"endpoint": "/v1/chat/completions", "completion_window": "24h", **more}
    return client.batches.create(input_file_id=upload(client, lines).id, **arguments)


def wait(client, batch, seconds=120):
    end = time.time() + seconds
    while batch.status in ("validating", "in_progress", "finalizing", "cancelling"):
        assert time.time() < end, f"still {batch.status}: {batch.request_counts}"
        time.sleep(0.05)
        batch = client.batches.retrieve(batch.id)
    return batch


def read(client, file_id):
    if not file_id:
        return []
    return [json.loads(line) for line in client.files.content(file_id).text.splitlines()]


def test_a_file_comes_back_as_it_was_sent(client):
    content = os.urandom(3_000_000) + b"\r\n--boundary\r\n"
    file = client.files.create(file=("data.bin", content), purpose="user_data")
    assert (file.object, file.bytes, file.filename, file.purpose, file.status) == (
        "file", len(content), "data.bin", "user_data", "processed")
    assert client.files.retrieve(file.id) == file
    assert client.files.content(file.id).read() == content
    assert client.files.delete(file.id).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.retrieve(file.id)


def test_files_are_listed_in_pages(client):
    made = [client.files.create(file=(f"{i}.txt", b"x"), purpose="evals").id for i in range(5)]
    assert [f.id for f in client.files.list(purpose="evals", order="asc", limit=2)] == made
    assert [f.id for f in client.files.list(purpose="evals")] == made[::-1]


@pytest.mark.parametrize("form, field", [
    ({"data": {"purpose": "batch"}}, "file"),
    ({"files": {"file": ("a", b"x")}}, "purpose"),
    ({"files": {"file": ("a", b"x")}, "data": {"purpose": "nonsense"}}, "purpose"),
    ({"files": {"file": ("a", b"x")}, "data": {"purpose": "batch", "more": "1"}}, "more"),
    ({"files": {"file": ("a", b"x")}, "data": {"purpose": "batch",
      "expires_after[anchor]": "created_at", "expires_after[seconds]": "5"}},
     "expires_after[seconds]"),
])
def test_a_wrong_form_names_its_field(server, form, field):
    if "files" not in form:
        form = {"files": {key: (None, value) for key, value in form["data"].items()}}
    reply = httpx.post(server.root + "/v1/files", **form)
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == field


def test_what_is_no_form_is_refused(server):
    assert httpx.post(server.root + "/v1/files", json={}).status_code == 415
    broken = httpx.post(server.root + "/v1/files", content=b"--b\r\nnonsense",
                        headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert broken.status_code == 400
    for query in ("limit=0", "order=up", "nonsense=1"):
        assert httpx.get(f"{server.root}/v1/files?{query}").status_code == 400, query


def test_a_batch_answers_like_the_route(client):
    lines = [request(f"id-{i}", f"Count to {i}.", 8) for i in range(6)]
    batch = wait(client, start(client, lines, metadata={"who": "me"}))
    assert batch.status == "completed" and batch.metadata == {"who": "me"}
    assert (batch.request_counts.total, batch.request_counts.completed) == (6, 6)
    answers = read(client, batch.output_file_id)
    assert [a["custom_id"] for a in answers] == [line["custom_id"] for line in lines]
    for line, answer in zip(lines, answers):
        assert answer["error"] is None and answer["response"]["status_code"] == 200
        alone = client.chat.completions.create(**line["body"])
        text = answer["response"]["body"]["choices"][0]["message"]["content"]
        assert text == alone.choices[0].message.content


def test_a_line_that_asks_wrongly_fails_alone(client):
    lines = [request("good"), request("hot", temperature=-4), request("other", model="none"), "\n"]
    batch = wait(client, start(client, lines))
    assert batch.status == "completed"
    assert (batch.request_counts.completed, batch.request_counts.failed) == (1, 2)
    assert [a["custom_id"] for a in read(client, batch.output_file_id)] == ["good"]
    failed = {a["custom_id"]: a["response"] for a in read(client, batch.error_file_id)}
    assert failed["hot"]["status_code"] == 400 and failed["other"]["status_code"] == 404
    assert failed["hot"]["body"]["error"]["param"] == "temperature"


@pytest.mark.parametrize("line, code", [
    ("{oops\n", "invalid_json_line"),
    ("[]\n", "invalid_json_line"),
    (request("good"), "duplicate_custom_id"),
    ({**request("x"), "method": "GET"}, "invalid_method"),
    ({**request("x"), "url": "/v1/completions"}, "mismatched_url"),
    ({**request("x"), "custom_id": 5}, "missing_required_parameter"),
    ({**request("x"), "body": "text"}, "missing_required_parameter"),
    (request("x", stream=True), "invalid_value"),
    ({**request("x"), "more": 1}, "unknown_parameter"),
])
def test_a_malformed_line_fails_the_batch_by_its_number(client, line, code):
    batch = wait(client, start(client, [request("good"), line]))
    assert batch.status == "failed"
    assert [(e.code, e.line) for e in batch.errors.data] == [(code, 2)]


def test_a_batch_that_cannot_be_is_refused(server, client):
    file = upload(client, [request("a")]).id
    other = client.files.create(file=("x", b"x"), purpose="evals").id
    good = {"input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h"}
    for change, status in (({"input_file_id": "file-none"}, 404), ({"input_file_id": other}, 400),
                           ({"endpoint": "/v1/nothing"}, 400), ({"completion_window": "x"}, 400),
                           ({"metadata": {"a": 1}}, 400), ({"nonsense": 1}, 400)):
        reply = httpx.post(server.root + "/v1/batches", json={**good, **change})
        assert (reply.status_code, change) == (status, change)
        assert reply.json()["error"]["param"] == next(iter(change))
    assert wait(client, start(client, ["\n"])).errors.data[0].code == "empty_file"


def test_a_cancelled_batch_ends_with_what_it_has(client):
    batch = start(client, [request(f"{i}", "Tell a story.", 400, ignore_eos=True)
                           for i in range(300)])
    while batch.status == "validating":
        batch = client.batches.retrieve(batch.id)
    with pytest.raises(openai.ConflictError):
        client.files.delete(batch.input_file_id)
    assert client.batches.cancel(batch.id).status == "cancelling"
    batch = wait(client, batch)
    assert batch.status == "cancelled" and batch.cancelled_at >= batch.cancelling_at
    counts = batch.request_counts
    assert len(read(client, batch.output_file_id)) == counts.completed < counts.total
    with pytest.raises(openai.ConflictError):
        client.batches.cancel(batch.id)
    client.files.delete(batch.input_file_id)


def test_a_batch_expires(client):
    lines = [request(f"{i}", "Tell a story.", 400, ignore_eos=True) for i in range(300)]
    batch = wait(client, start(client, lines, completion_window="1s"))
    assert batch.status == "expired"
    errors = read(client, batch.error_file_id)
    assert {e["error"]["code"] for e in errors} == {"batch_expired"}
    assert len(errors) + len(read(client, batch.output_file_id)) == 300


def test_batches_are_listed_newest_first(client):
    made = [start(client, [request("a")]).id for _ in range(3)]
    assert [b.id for b in client.batches.list(limit=2)][:3] == made[::-1]


def test_online_requests_come_before_a_batch(client):
    batch = start(client, [request(f"{i}", "Tell a story.", 300, ignore_eos=True)
                           for i in range(200)])
    while batch.status == "validating":
        batch = client.batches.retrieve(batch.id)
    client.chat.completions.create(**request("a")["body"])
    assert client.batches.retrieve(batch.id).request_counts.completed < 200
    client.batches.cancel(batch.id)
    wait(client, batch)


def test_each_line_is_answered_once_though_the_server_is_killed(tmp_path):
    lines = [request(f"line-{i}", f"Name number {i}.", 6) for i in range(LINES)]
    running = Serve(tmp_path)
    batch = start(running.client(), lines)
    for kills in (1, 2):
        while batch.request_counts is None or batch.request_counts.completed < LINES * kills / 4:
            time.sleep(0.02)
            batch = running.client().batches.retrieve(batch.id)
        running.kill()
        running = Serve(tmp_path)
        again = running.client().batches.retrieve(batch.id)
        assert again.status == "in_progress"
        assert batch.request_counts.completed <= again.request_counts.completed < LINES
    batch = wait(running.client(), batch, 60 + LINES)
    answers = read(running.client(), batch.output_file_id)
    assert collections.Counter(a["custom_id"] for a in answers) == collections.Counter(
        line["custom_id"] for line in lines)
    assert batch.request_counts.completed == LINES and batch.error_file_id is None
    running.kill()


@pytest.fixture(scope="module")
def tenants(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    keys = [{"name": "alice", "key": "sk-alice", "weight": 2},
            {"name": "bob", "key": "sk-bob", "requests_per_minute": 3},
            {"name": "carol", "key": "sk-carol", "tokens_per_minute": 10},
            {"name": "dave", "key": "sk-dave", "max_concurrent_requests": 1},
            {"name": "root", "key": "sk-root", "admin": True}]
    (folder / "keys.json").write_text(json.dumps({"keys": keys}))
    running = Serve(folder, "--api-keys", folder / "keys.json")
    yield running
    running.kill()


def ask(tenants, key, **more):
    return httpx.post(tenants.root + "/v1/chat/completions", timeout=60,
                      headers={"Authorization": f"Bearer {key}"},
                      json={**request("x")["body"], **more})


def test_files_are_their_owners_alone(tenants):
    alice, bob = tenants.client("sk-alice"), tenants.client("sk-bob")
    file = alice.files.create(file=("a", b"secret"), purpose="user_data")
    for call in (bob.files.retrieve, bob.files.content, bob.files.delete):
        with pytest.raises(openai.NotFoundError):
            call(file.id)
    assert not list(bob.files.list())
    with pytest.raises(openai.AuthenticationError):
        tenants.client("sk-nobody").files.list()


def test_requests_a_minute_are_limited_and_told(tenants):
    replies = [ask(tenants, "sk-bob") for _ in range(4)]
    assert [r.status_code for r in replies] == [200, 200, 200, 429]
    assert replies[0].headers["x-ratelimit-limit-requests"] == "3"
    assert replies[0].headers["x-ratelimit-remaining-requests"] == "2"
    assert 1 <= int(replies[3].headers["retry-after"]) <= 20
    assert replies[3].json()["error"]["code"] == "rate_limit_exceeded"
    assert ask(tenants, "sk-alice").status_code == 200


def test_tokens_a_minute_are_limited(tenants):
    assert ask(tenants, "sk-carol").status_code == 200
    refused = ask(tenants, "sk-carol")
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 1
    assert refused.headers["x-ratelimit-remaining-tokens"] == "0"


def test_concurrent_requests_are_limited_and_can_be_aborted(tenants):
    headers = {"Authorization": "Bearer sk-dave", "X-Request-Id": "mine"}
    body = {**request("x", "Tell a story.", 400, ignore_eos=True)["body"], "stream": True}
    with httpx.stream("POST", tenants.root + "/v1/chat/completions", headers=headers, json=body,
                      timeout=60) as stream:
        assert stream.headers["x-request-id"] == "mine"
        assert ask(tenants, "sk-dave").status_code == 429
        assert httpx.get(tenants.root + "/load").json()["server_load"] == 1
        abort = {"url": tenants.root + "/v1/abort", "json": {"request_id": "mine"}}
        other = httpx.post(**abort, headers={"Authorization": "Bearer sk-alice"})
        assert other.json() == {"aborted": 0}
        assert httpx.post(**abort, headers=headers).json() == {"aborted": 1}
        assert '"code":"aborted"' in stream.read().decode()
    assert ask(tenants, "sk-dave").status_code == 200


def test_usage_is_ones_own_unless_one_administers(tenants):
    assert ask(tenants, "sk-alice", max_tokens=3, ignore_eos=True).status_code == 200

    def usage(bearer, **query):
        return httpx.get(tenants.root + "/v1/usage", params=query,
                         headers={"Authorization": f"Bearer {bearer}"})

    own = usage("sk-alice").json()["data"]
    assert {r["key"] for r in own} == {"alice"}
    assert own[0]["num_model_requests"] >= 1 and own[0]["output_tokens"] >= 3
    assert usage("sk-alice", key="bob").status_code == 403
    assert ask(tenants, "sk-root").status_code == 200
    assert {"alice", "root"} <= {r["key"] for r in usage("sk-root").json()["data"]}
    assert {r["key"] for r in usage("sk-root", key="alice").json()["data"]} == {"alice"}
    assert usage("sk-root", start_time="x").status_code == 400


@pytest.mark.parametrize("text, told", [
    ("{", "keys.json"), ('{"keys": []}', "keys"),
    ('{"keys": [{"name": "a"}]}', "keys[0].key"),
    ('{"keys": [{"name": "a", "key": "b", "weight": 0}]}', "keys[0].weight"),
    ('{"keys": [{"name": "a", "key": "b", "colour": 1}]}', "keys[0].colour"),
])
def test_a_wrong_file_of_keys_is_refused_by_name(matador, tmp_path, text, told):
    (tmp_path / "keys.json").write_text(text)
    result = matador("serve", MODEL, "--api-keys", tmp_path / "keys.json")
    assert result.returncode == 1 and told in result.stderr


def test_one_server_uses_a_data_folder(matador, tenants, tmp_path_factory):
    folder = tmp_path_factory.mktemp("twice")
    first = Serve(folder)
    result = matador("serve", MODEL, "--data-dir", folder / "data")
    assert result.returncode == 1 and "another process" in result.stderr
    first.kill()


def test_the_command_answers_a_file_and_goes_on_where_it_was_killed(matador, tmp_path):
    lines = [request(f"line-{i}", f"Name number {i}.", 4) for i in range(8)]
    lines[5]["body"]["temperature"] = -1
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    output = tmp_path / "out.jsonl"
    arguments = ("batch", tmp_path / "in.jsonl", MODEL, "-o", output, "--max-model-len", "512",
                 "--served-model-name", NAME)
    whole = matador(*arguments)
    assert whole.returncode == 0, whole.stderr
    assert "8 lines answered, 1 of them by an error" in whole.stderr
    first = output.read_text().splitlines(keepends=True)
    output.write_text("".join(first[:3]) + first[3][:20])
    again = matador(*arguments)
    assert "5 lines answered" in again.stderr, again.stderr
    answers = {(a := json.loads(line))["custom_id"]: a for line in output.read_text().splitlines()}
    assert len(output.read_text().splitlines()) == 8
    assert set(answers) == {line["custom_id"] for line in lines}
    assert answers["line-5"]["response"]["status_code"] == 400


def test_the_command_names_what_is_wrong_with_a_file(matador, tmp_path):
    file = tmp_path / "in.jsonl"
    for text, told in ((json.dumps(request("a")) + "\n{oops\n", "in.jsonl:2"),
                       (json.dumps({**request("a"), "url": "/v1/none"}), "/v1/none"), ("", "url")):
        file.write_text(text)
        result = matador("batch", file, MODEL, "-o", tmp_path / "out")
        assert result.returncode == 1 and told in result.stderr, result.stderr
