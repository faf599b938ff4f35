#include "terminal.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <utility>

namespace matador {

bool is_terminal(int fd) { return isatty(fd) == 1; }

ProgressLine::ProgressLine(std::string label)
    : label_(std::move(label)), enabled_(is_terminal(STDERR_FILENO)) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
}

void ProgressLine::show(uint64_t done, uint64_t total) {
  auto now = std::chrono::steady_clock::now();
  if (!enabled_ || total == 0 || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  std::fprintf(stderr, "\r\033[K%s %d%%", label_.c_str(), static_cast<int>(100 * done / total));
}

namespace {

sigset_t sigint_alone() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

}  // namespace

Interrupts::Interrupts() {
  sigset_t set = sigint_alone();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

Interrupts::~Interrupts() {
  close(fd_);
  sigset_t set = sigint_alone();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

bool Interrupts::take() {
  bool taken = false;
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info) taken = true;
  return taken;
}

bool Interrupts::wait_for_input() {
  std::array<pollfd, 2> sources = {pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{fd_, POLLIN, 0}};
  while (poll(sources.data(), sources.size(), -1) < 0 && errno == EINTR) {
  }
  return !take();
}

}  // namespace matador
