#include "dialects/message_parser.h"

#include <algorithm>
#include <utility>

namespace matador {
namespace {

template <class Marks>
std::vector<std::string_view> texts_of(const Marks& marks) {
  std::vector<std::string_view> texts;
  for (const auto& mark : marks) texts.push_back(mark.text);
  return texts;
}

// Between the calls of a list.
bool only_separates(std::string_view text) {
  return text.find_first_not_of(" \t\r\n,;]") == std::string_view::npos;
}

}  // namespace

MessageParser::MessageParser(const MessageSyntax& syntax)
    : syntax_(syntax),
      marks_(marks_of(syntax)),
      content_finder_(texts_of(marks_)),
      reasoning_finder_(reasoning_marks(syntax)),
      place_(syntax.reasoning_open ? Place::reasoning : Place::content) {
  if (!syntax.calls) return;
  for (const CallFormat::Opening& opening : syntax.calls->openings)
    if (opening.mark.empty()) bare_ = opening.syntax.get();
}

std::vector<MessageParser::Mark> MessageParser::marks_of(const MessageSyntax& syntax) {
  std::vector<Mark> marks;
  if (const ReasoningFormat* reasoning = syntax.reasoning) {
    marks.push_back({reasoning->open, MarkKind::reasoning});
    for (auto text : reasoning->structural) marks.push_back({text, MarkKind::structural});
  }
  if (const CallFormat* calls = syntax.calls) {
    for (size_t i = 0; i < calls->openings.size(); ++i)
      if (!calls->openings[i].mark.empty())
        marks.push_back({calls->openings[i].mark, MarkKind::opening, i});
    for (auto text : calls->silent) marks.push_back({text, MarkKind::silent});
    for (auto text : calls->structural) marks.push_back({text, MarkKind::structural});
  }
  return marks;
}

std::vector<std::string_view> MessageParser::reasoning_marks(const MessageSyntax& syntax) {
  if (!syntax.reasoning) return {};
  return {syntax.reasoning->close};
}

MessageDelta MessageParser::push(std::string_view text) {
  run(std::string(text));
  return std::exchange(out_.delta(), {});
}

MessageDelta MessageParser::finish() {
  // A mark at the very end is found only now, and may leave text to be read.
  for (bool more = true; more;) {
    MarkFinder::Step found;
    if (place_ == Place::content) {
      found = content_finder_.finish();
      more = found.mark >= 0;
      on_content(std::move(found));
    } else if (place_ == Place::reasoning) {
      found = reasoning_finder_.finish();
      more = found.mark >= 0;
      on_reasoning(std::move(found));
    } else {
      reader_->finish(out_);
      if (out_.in_call() || only_separates(pending_)) pending_.clear();
      more = false;
    }
    run({});
  }
  if (place_ == Place::content && drop_pending_) pending_.clear();
  if (place_ != Place::reasoning) out_.delta().content += pending_;
  pending_.clear();
  return std::exchange(out_.delta(), {});
}

void MessageParser::run(std::string text) {
  input_.insert(input_.begin(), text.rbegin(), text.rend());
  while (!input_.empty()) {
    char c = input_.back();
    input_.pop_back();
    step(c);
  }
}

void MessageParser::step(char c) {
  switch (place_) {
    case Place::content: return on_content(content_finder_.feed(c));
    case Place::reasoning: return on_reasoning(reasoning_finder_.feed(c));
    case Place::block: return on_block(c);
  }
}

void MessageParser::on_content(MarkFinder::Step found) {
  input_.append(found.rest.rbegin(), found.rest.rend());
  for (size_t i = 0; i < found.text.size(); ++i) {
    if (!opens_bare_block(found.text[i])) {
      content(found.text[i]);
      continue;
    }
    // The block reads all that follows, marks too.
    std::string rest = found.text.substr(i);
    if (found.mark >= 0) rest += marks_[static_cast<size_t>(found.mark)].text;
    input_.append(rest.rbegin(), rest.rend());
    return open_block(*bare_, "");
  }
  if (found.mark >= 0) on_mark(marks_[static_cast<size_t>(found.mark)]);
}

void MessageParser::on_mark(const Mark& mark) {
  switch (mark.kind) {
    case MarkKind::structural: return;
    case MarkKind::silent: pending_ += mark.text; return;
    case MarkKind::opening:
      return open_block(*syntax_.calls->openings[mark.opening].syntax, mark.text);
    case MarkKind::reasoning: break;
  }
  if (begun_ && !syntax_.reasoning->anywhere) {
    for (char c : mark.text) content(c);
    return;
  }
  pending_.clear();
  place_ = Place::reasoning;
}

void MessageParser::on_reasoning(MarkFinder::Step found) {
  input_.append(found.rest.rbegin(), found.rest.rend());
  for (char c : found.text) reasoning(c);
  if (found.mark < 0) return;
  pending_.clear();
  drop_pending_ = true;
  begun_ = true;
  place_ = Place::content;
}

// Spaces at both ends of reasoning are the marks'.
void MessageParser::reasoning(char c) {
  std::string& text = out_.delta().reasoning;
  if (is_json_space(c)) {
    if (begun_) pending_ += c;
    return;
  }
  text += std::exchange(pending_, {});
  text += c;
  begun_ = true;
}

void MessageParser::content(char c) {
  const bool between_bare_calls = drop_pending_ && bare_ && (c == ';' || c == ',');
  if (is_json_space(c) || between_bare_calls) {
    pending_ += c;
    return;
  }
  if (!drop_pending_) out_.delta().content += pending_;
  pending_.clear();
  drop_pending_ = false;
  out_.delta().content += c;
  begun_ = true;
  bare_ = nullptr;
}

bool MessageParser::opens_bare_block(char c) const { return bare_ && (c == '{' || c == '['); }

void MessageParser::open_block(const CallSyntax& syntax, std::string_view mark) {
  if (drop_pending_) pending_.clear();
  pending_ += mark;
  block_begin_ = pending_.size();
  reader_ = syntax.reader(*syntax_.tools);
  place_ = Place::block;
}

void MessageParser::close_block() {
  reader_.reset();
  place_ = Place::content;
}

void MessageParser::on_block(char c) {
  const bool was_in_call = out_.in_call();
  const int32_t num_calls = out_.num_calls();
  const CallReader::State state = reader_->feed(c, out_);
  pending_ += c;
  if (was_in_call || out_.num_calls() > num_calls) {
    pending_.clear();
    block_begin_ = 0;
    drop_pending_ = begun_ = true;
  }
  switch (state) {
    case CallReader::State::more: return;
    case CallReader::State::refused: return on_refusal();
    case CallReader::State::done_before: input_ += c; break;
    case CallReader::State::done: break;
  }
  pending_.clear();
  close_block();
}

// The opening mark is content; what came after it is read again, since it may hold another mark.
void MessageParser::on_refusal() {
  close_block();
  bare_ = nullptr;
  const std::string text = std::exchange(pending_, {});
  if (block_begin_ > 0) {
    out_.delta().content += text.substr(0, block_begin_);
    drop_pending_ = false;
    begun_ = true;
  }
  input_.append(text.rbegin(), text.rend() - static_cast<std::ptrdiff_t>(block_begin_));
}

}  // namespace matador
