#include "fetch/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.hpp"
#include "base/run_control.hpp"

extern char** environ;

namespace diarist::fetch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKeptBytes = 64 * 1024;
constexpr auto kPatience = std::chrono::seconds(2);  // between asking a child to end and killing it
constexpr int kPollMilliseconds = 100;

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The child stays in our process group, so an interrupt typed at the terminal reaches it too.
class Child {
 public:
  Child(pid_t id, int output) : id_(id), output_(output) {}
  ~Child() {
    if (id_ > 0) end();
    ::close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Collects output until it is closed.
  void collect(std::string& text, const std::stop_token& stop) {
    char buffer[4096];
    for (;;) {
      base::check_stop(stop);
      pollfd waiting{output_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, kPollMilliseconds);
      if (ready < 0 && errno != EINTR) return;
      if (ready <= 0) {
        if (gone()) return;  // a grandchild may hold the pipe open
        continue;
      }
      const ssize_t count = ::read(output_, buffer, sizeof(buffer));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      text.append(buffer, static_cast<std::size_t>(count));
      if (text.size() > kKeptBytes) text.erase(0, text.size() - kKeptBytes);
    }
  }

  int wait_for_end(const std::stop_token& stop) {
    while (!gone()) {
      base::check_stop(stop);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  }

 private:
  bool gone() {
    if (id_ <= 0) return true;
    const pid_t found = ::waitpid(id_, &status_, WNOHANG);
    if (found == 0 || (found < 0 && errno == EINTR)) return false;
    id_ = -1;
    return true;
  }

  void end() {
    ::kill(id_, SIGTERM);
    const auto patience = Clock::now() + kPatience;
    while (!gone()) {
      if (Clock::now() > patience) ::kill(id_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  pid_t id_;
  int output_;
  int status_ = 0;
};

}  // namespace

ChildResult run_child(const std::vector<std::string>& command, const std::stop_token& stop) {
  base::check_stop(stop);
  int pipe[2] = {-1, -1};
  if (::pipe2(pipe, O_CLOEXEC) != 0) {
    base::fail(ErrorCode::kInternal, "no pipe for a child process ({})", std::strerror(errno));
  }
  FileActions actions;
  posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(actions.get(), pipe[1], 1);
  posix_spawn_file_actions_adddup2(actions.get(), pipe[1], 2);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t id = -1;
  const int problem =
      ::posix_spawnp(&id, arguments.front(), actions.get(), nullptr, arguments.data(), environ);
  ::close(pipe[1]);
  ChildResult result;
  if (problem != 0) {
    ::close(pipe[0]);
    result.error_text = std::strerror(problem);
    return result;
  }
  Child child(id, pipe[0]);
  result.started = true;
  child.collect(result.error_text, stop);
  result.exit_code = child.wait_for_end(stop);
  return result;
}

}  // namespace diarist::fetch
