// What a person at a terminal sees beside a command's output, and Ctrl-C.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace matador {

bool is_terminal(int fd);

// A line on stderr that says how far something is; nothing where stderr is no terminal. The line
// is wiped at the end.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  // At most ten times a second.
  void show(uint64_t done, uint64_t total);

 private:
  std::string label_;
  bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

// Ctrl-C as something to ask for. While one exists, SIGINT does not end the process; threads
// started meanwhile inherit that, so make it before the engine.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  // Whether Ctrl-C was pressed since the last call.
  bool take();
  // Waits for input on stdin: false when Ctrl-C came first.
  bool wait_for_input();

 private:
  int fd_;
};

}  // namespace matador
