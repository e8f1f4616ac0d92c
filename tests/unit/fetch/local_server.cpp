#include "local_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace diarist::test {
namespace {

constexpr int kPollMilliseconds = 20;

bool wait_readable(int descriptor, int milliseconds) {
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

void send_all(int connection, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;  // the client has gone, as some tests want
    sent += static_cast<std::size_t>(count);
  }
}

ServerRequest parse(const std::string& text) {
  ServerRequest request;
  const std::size_t first = text.find(' ');
  const std::size_t second = text.find(' ', first + 1);
  request.method = text.substr(0, first);
  request.path = text.substr(first + 1, second - first - 1);
  std::size_t at = text.find("\r\n") + 2;
  while (at < text.size()) {
    const std::size_t end = text.find("\r\n", at);
    const std::size_t colon = text.find(':', at);
    if (end == std::string::npos || colon > end) break;
    std::string name = text.substr(at, colon - at);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::size_t value = text.find_first_not_of(' ', colon + 1);
    request.headers[name] = text.substr(value, end - value);
    at = end + 2;
  }
  return request;
}

}  // namespace

LocalServer::LocalServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (listener_ < 0 || ::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    throw std::runtime_error("no local server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

LocalServer::~LocalServer() {
  stop_ = true;
  thread_.join();
  ::close(listener_);
}

std::string LocalServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<ServerRequest> LocalServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void LocalServer::serve() {
  while (!stop_) {
    if (!wait_readable(listener_, kPollMilliseconds)) continue;
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    answer(connection);
    ::close(connection);
  }
}

void LocalServer::answer(int connection) {
  std::string text;
  char buffer[4096];
  while (text.find("\r\n\r\n") == std::string::npos) {
    if (stop_ || text.size() > 65536) return;
    if (!wait_readable(connection, kPollMilliseconds)) continue;
    const ssize_t count = ::recv(connection, buffer, sizeof(buffer), 0);
    if (count <= 0) return;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  const ServerRequest request = parse(text);
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  const ServerAnswer answer = handler_(request);
  std::string head = "HTTP/1.1 " + std::to_string(answer.status) + " Word\r\nConnection: close\r\n";
  if (answer.announce_length) {
    head += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
  }
  for (const auto& [name, value] : answer.headers) head += name + ": " + value + "\r\n";
  send_all(connection, head + "\r\n" + answer.body.substr(0, answer.cut_after));
  while (answer.stall && !stop_) {
    // Ends when the client hangs up.
    if (wait_readable(connection, kPollMilliseconds) &&
        ::recv(connection, buffer, sizeof(buffer), 0) <= 0) {
      return;
    }
  }
}

ServerAnswer ranged(const ServerRequest& request, const std::string& content,
                    const std::string& tag) {
  ServerAnswer answer;
  if (!tag.empty()) answer.headers.emplace_back("ETag", tag);
  const std::string range = request.header("range");
  const std::string condition = request.header("if-range");
  if (range.empty() || (!condition.empty() && condition != tag)) {
    answer.body = content;
    return answer;
  }
  const std::size_t start = std::stoull(range.substr(range.find('=') + 1));
  const std::string total = std::to_string(content.size());
  if (start >= content.size()) {
    answer.status = 416;
    answer.headers.emplace_back("Content-Range", "bytes */" + total);
    answer.body = "no such range";
    return answer;
  }
  answer.status = 206;
  answer.headers.emplace_back(
      "Content-Range",
      "bytes " + std::to_string(start) + "-" + std::to_string(content.size() - 1) + "/" + total);
  answer.body = content.substr(start);
  return answer;
}

}  // namespace diarist::test
