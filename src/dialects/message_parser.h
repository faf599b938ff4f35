// MessageParser: an assistant's message, as its text comes, in parts: reasoning, content and calls.
//
// The parts do not depend on how the text was cut. What is not a call, though it begins like one,
// is content; only marks, and spaces beside them, are dropped. Not synchronised.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/call_reader.h"
#include "dialects/format.h"
#include "dialects/mark_finder.h"
#include "dialects/tool.h"

namespace matador {

struct MessageSyntax {
  const CallFormat* calls = nullptr;           // null: nothing is a call
  const ReasoningFormat* reasoning = nullptr;  // null: nothing is reasoning
  bool reasoning_open = false;                 // the prompt has opened it
  std::shared_ptr<const ToolSet> tools = std::make_shared<ToolSet>();
};

class MessageParser {
 public:
  explicit MessageParser(const MessageSyntax& syntax);

  MessageDelta push(std::string_view text);
  // The end of the text: what was held back.
  MessageDelta finish();

  // The text read last belongs to reasoning.
  bool in_reasoning() const { return place_ == Place::reasoning; }
  int32_t num_calls() const { return out_.num_calls(); }

 private:
  enum class Place : uint8_t { content, reasoning, block };
  enum class MarkKind : uint8_t { opening, silent, structural, reasoning };
  struct Mark {
    std::string_view text;
    MarkKind kind;
    size_t opening = 0;  // index in calls->openings
  };

  static std::vector<Mark> marks_of(const MessageSyntax& syntax);
  static std::vector<std::string_view> reasoning_marks(const MessageSyntax& syntax);

  void run(std::string text);
  void step(char c);
  void on_content(MarkFinder::Step found);
  void on_reasoning(MarkFinder::Step found);
  void on_block(char c);
  void on_mark(const Mark& mark);
  void on_refusal();
  void content(char c);
  void reasoning(char c);
  bool opens_bare_block(char c) const;
  void open_block(const CallSyntax& syntax, std::string_view mark);
  void close_block();

  MessageSyntax syntax_;
  std::vector<Mark> marks_;
  MarkFinder content_finder_, reasoning_finder_;
  const CallSyntax* bare_ = nullptr;  // calls that nothing announces; null once there is content

  Place place_;
  std::string input_;          // to be read, last character first
  std::string pending_;        // spaces, marks and calls that have not begun: content, or dropped
  size_t block_begin_ = 0;     // where the block's own text begins in pending_
  bool drop_pending_ = false;  // pending_ follows a call or reasoning
  bool begun_ = false;         // content, calls or reasoning have come
  std::unique_ptr<CallReader> reader_;
  CallOutput out_;
};

}  // namespace matador
