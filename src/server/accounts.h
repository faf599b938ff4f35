// Accounts: the API keys and what each has taken of its limits. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/error.h"
#include "api/tenants.h"
#include "server/http.h"
#include "server/token_bucket.h"

namespace matador {

class Account {
 public:
  using Clock = TokenBucket::Clock;

  explicit Account(Tenant tenant, Clock::time_point now = Clock::now());

  const Tenant& tenant() const { return tenant_; }

  // A request that was let in: one of those that run or wait, until destroyed.
  class Ticket {
   public:
    explicit Ticket(Account& account) : account_(account) {}
    ~Ticket();
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;
    // Tokens it took: of the prompt when it begins, of the answer when it ends.
    void charge(int64_t tokens, Clock::time_point now = Clock::now());

   private:
    Account& account_;
  };
  struct Entry {
    std::unique_ptr<Ticket> ticket;  // null: refused, for the time that Retry-After tells
    ApiError error = {};
    HttpHeaders headers = {};  // x-ratelimit-*, and Retry-After where refused
  };
  // As long as requests and tokens are left and not too many requests run. `counted` is false for
  // lines of batches, which wait by themselves: they are charged, but never refused.
  Entry enter(bool counted = true, Clock::time_point now = Clock::now());

 private:
  HttpHeaders headers(Clock::time_point now);

  const Tenant tenant_;
  std::mutex mutex_;
  std::optional<TokenBucket> requests_, tokens_;
  int32_t num_open_ = 0;
};

class Accounts {
 public:
  // Without tenants nobody needs a key.
  explicit Accounts(std::vector<Tenant> tenants);

  // Whose key the Authorization header bears; null: nobody's. The time taken does not depend on
  // how much of a key was right, nor on which.
  Account* find(std::string_view authorization) const;
  // Of that name; of no name where it has no key any more.
  Account& of(std::string_view name) const;
  bool needs_key() const { return !accounts_.empty(); }

 private:
  std::vector<std::unique_ptr<Account>> accounts_;
  std::unique_ptr<Account> anyone_;
};

}  // namespace matador
