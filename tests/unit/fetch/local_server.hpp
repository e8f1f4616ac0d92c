#pragma once
// A small HTTP server on 127.0.0.1 for tests of downloads: one thread, one connection at a time,
// one request per connection, and answers that misbehave on request.

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace diarist::test {

struct ServerRequest {
  std::string method;
  std::string path;                            // with the query
  std::map<std::string, std::string> headers;  // names in lower case
  std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct ServerAnswer {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::size_t cut_after = std::string::npos;  // closes after so many bytes of the body
  bool stall = false;                         // keeps the connection open without a byte after that
  bool announce_length = true;                // Content-Length of the whole body
};

class LocalServer {
 public:
  using Handler = std::function<ServerAnswer(const ServerRequest&)>;

  explicit LocalServer(Handler handler);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  /// "http://127.0.0.1:PORT" + path.
  std::string url(const std::string& path) const;
  std::vector<ServerRequest> requests() const;

 private:
  void serve();
  void answer(int connection);

  Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::vector<ServerRequest> requests_;
  std::jthread thread_;
};

/// The whole content, or the range asked for as servers that know ranges answer.
ServerAnswer ranged(const ServerRequest& request, const std::string& content,
                    const std::string& tag = "");

}  // namespace diarist::test
