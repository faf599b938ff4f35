#include "server/accounts.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace matador {
namespace {

bool equal_in_constant_time(std::string_view given, std::string_view key) {
  size_t different = given.size() ^ key.size();
  for (size_t i = 0; i < given.size(); ++i)
    different |= static_cast<size_t>(static_cast<unsigned char>(given[i]) ^
                                     static_cast<unsigned char>(key[i % key.size()]));
  return different == 0;
}

std::optional<TokenBucket> bucket(const std::optional<int64_t>& per_minute,
                                  TokenBucket::Clock::time_point now) {
  if (!per_minute) return std::nullopt;
  return TokenBucket(static_cast<double>(*per_minute), now);
}

// "6m0.5s", as OpenAI writes times.
std::string time_text(std::chrono::duration<double> time) {
  auto milliseconds = static_cast<int64_t>(std::ceil(time.count() * 1000));
  if (milliseconds < 1000) return std::to_string(milliseconds) + "ms";
  int64_t minutes = milliseconds / 60'000, rest = milliseconds % 60'000;
  std::ostringstream text;
  if (minutes > 0) text << minutes << 'm';
  text << static_cast<double>(rest) / 1000 << 's';
  return text.str();
}

ApiError too_many(std::string message) {
  return {.status = 429,
          .message = std::move(message),
          .code = "rate_limit_exceeded",
          .type = "rate_limit_error"};
}

void add_headers(HttpHeaders& headers, const std::string& what, TokenBucket& bucket,
                 TokenBucket::Clock::time_point now) {
  auto whole = [](double x) { return std::to_string(static_cast<int64_t>(std::max(0.0, x))); };
  headers.emplace_back("x-ratelimit-limit-" + what, whole(bucket.capacity()));
  headers.emplace_back("x-ratelimit-remaining-" + what, whole(bucket.level(now)));
  headers.emplace_back("x-ratelimit-reset-" + what,
                       time_text(bucket.time_until(bucket.capacity(), now)));
}

}  // namespace

Account::Account(Tenant tenant, Clock::time_point now)
    : tenant_(std::move(tenant)),
      requests_(bucket(tenant_.requests_per_minute, now)),
      tokens_(bucket(tenant_.tokens_per_minute, now)) {}

Account::Ticket::~Ticket() {
  std::lock_guard lock(account_.mutex_);
  --account_.num_open_;
}

void Account::Ticket::charge(int64_t tokens, Clock::time_point now) {
  std::lock_guard lock(account_.mutex_);
  if (account_.tokens_) account_.tokens_->take(static_cast<double>(tokens), now);
}

Account::Entry Account::enter(bool counted, Clock::time_point now) {
  std::lock_guard lock(mutex_);
  Entry entry;
  std::chrono::duration<double> wait(1);  // until one of those that run may have ended
  if (!counted) {
    // Comes in its own time.
  } else if (requests_ && requests_->level(now) < 1) {
    wait = requests_->time_until(1, now);
    entry.error = too_many("This key may send " + std::to_string(*tenant_.requests_per_minute) +
                           " requests a minute");
  } else if (tokens_ && tokens_->level(now) < 1) {
    wait = tokens_->time_until(1, now);
    entry.error = too_many("This key may use " + std::to_string(*tenant_.tokens_per_minute) +
                           " tokens a minute");
  } else if (tenant_.max_concurrent_requests && num_open_ >= *tenant_.max_concurrent_requests) {
    entry.error = too_many("This key has " + std::to_string(num_open_) +
                           " requests that run or wait, the most that it may");
  }
  bool refused = !entry.error.message.empty();
  if (!refused) {
    if (requests_ && counted) requests_->take(1, now);
    ++num_open_;
    entry.ticket = std::make_unique<Ticket>(*this);
  }
  entry.headers = headers(now);
  if (refused) {
    auto seconds = static_cast<int64_t>(std::ceil(wait.count()));
    entry.headers.emplace_back("Retry-After", std::to_string(std::max<int64_t>(1, seconds)));
  }
  return entry;
}

HttpHeaders Account::headers(Clock::time_point now) {
  HttpHeaders headers;
  if (requests_) add_headers(headers, "requests", *requests_, now);
  if (tokens_) add_headers(headers, "tokens", *tokens_, now);
  return headers;
}

Accounts::Accounts(std::vector<Tenant> tenants)
    : anyone_(std::make_unique<Account>(Tenant{.name = "", .admin = tenants.empty()})) {
  for (Tenant& tenant : tenants) accounts_.push_back(std::make_unique<Account>(std::move(tenant)));
}

Account* Accounts::find(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() < kScheme.size()) return nullptr;
  bool is_bearer = std::equal(kScheme.begin(), kScheme.end(), authorization.begin(),
                              [](char a, char b) { return a == (b | 0x20); });
  std::string_view given = authorization.substr(kScheme.size());
  Account* found = nullptr;
  for (const auto& account : accounts_)
    if (equal_in_constant_time(given, account->tenant().key)) found = account.get();
  return is_bearer ? found : nullptr;
}

Account& Accounts::of(std::string_view name) const {
  for (const auto& account : accounts_)
    if (account->tenant().name == name) return *account;
  return *anyone_;
}

}  // namespace matador
