"""Tries what a sandbox should refuse, and prints what came of it: {"probe": "allowed", the error's name or a value}."""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import socket
import subprocess
import termios

libc = ctypes.CDLL(None, use_errno=True)
home, runtime = os.environ["HOME"], os.environ["XDG_RUNTIME_DIR"]
KEPT = f"{home}/.config/.keep"
SELF_EXIT = bytes.fromhex(
    # An x86-64 program that calls exit(42) by the entry of 32-bit programs: mov $1,%eax; mov $42,%ebx; int $0x80.
    "7f454c4602010100000000000000000002003e00010000007800400000000000400000000000000000000000000000000000000040003800"
    "0100000000000000010000000500000000000000000000000000400000000000000040000000000084000000000000008400000000000000"
    "0010000000000000b801000000bb2a000000cd80")


def call(name, *arguments):
    """A function of libc that fails with -1 and errno."""
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def system_call(number, *arguments):
    """One that libc may not know. Without room for its parameters io_uring_setup(2) is allowed, and fails by EFAULT."""
    if libc.syscall(number, *arguments) == -1 and ctypes.get_errno() != errno.EFAULT:
        raise OSError(ctypes.get_errno(), number)


def write(folder):
    path = f"{folder}/probe-{os.getpid()}"
    with open(path, "w") as file:
        file.write("x")
    os.unlink(path)


def family(number):
    socket.socket(number, socket.SOCK_DGRAM).close()


def set_user_id_bit():
    path = f"{runtime}/oauthctl/set-user-id"
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o4700))
    os.unlink(path)


def foreign_entry():
    path = f"{runtime}/oauthctl/foreign"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o700), "wb") as file:
        file.write(SELF_EXIT)
    try:
        status = subprocess.run([path], check=False).returncode
    finally:
        os.unlink(path)
    return "allowed" if status == 42 else f"status {status}"


def ask_for_landlock():
    """Its version, by the number that the call has everywhere. A kernel without it is no sandbox's doing."""
    if libc.syscall(444, None, 0, 1) == -1 and ctypes.get_errno() not in (errno.ENOSYS, errno.EOPNOTSUPP):
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")


def read_clock_settings():
    call("adjtimex", ctypes.create_string_buffer(1024))


def status(key):
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith(key + ":"))


def change():
    with open(KEPT, "a") as file:
        file.write("x")


def remove():
    os.unlink(KEPT)
    open(KEPT, "w").close()


def move_out():
    path, moved = f"{home}/.local/state/oauthctl/moved", f"{home}/moved"
    open(path, "w").close()
    try:
        os.rename(path, moved)
        os.unlink(moved)
    finally:
        if os.path.exists(path):
            os.unlink(path)


def make_folder():
    os.mkdir(f"{home}/new")
    os.rmdir(f"{home}/new")


def make_link():
    os.symlink("/", f"{home}/link")
    os.unlink(f"{home}/link")


def set_device():
    """Of a terminal that the user has made, its size."""
    first, second = os.openpty()
    fcntl.ioctl(os.open(os.ttyname(second), os.O_RDWR | os.O_NOCTTY), termios.TIOCSWINSZ, bytes(8))
    os.close(first)
    os.close(second)


PROBES = {
    "write to the vault's folder": lambda: write(f"{home}/.local/share/oauthctl"),
    "write to the key's folder": lambda: write(f"{home}/.local/state/oauthctl"),
    "write to the socket's folder": lambda: write(f"{runtime}/oauthctl"),
    "read the home": lambda: os.listdir(home) and None,
    "write to the home": lambda: write(home),
    "write to the configuration": lambda: write(f"{home}/.config"),
    "write to the runtime folder": lambda: write(runtime),
    "write where everybody may": lambda: write("/srv/open"),
    "change a file of the home": change,
    "remove a file of the home": remove,
    "move a file out": move_out,
    "make a folder in the home": make_folder,
    "make a link in the home": make_link,
    "change what a device is set to": set_device,
    "change rights": lambda: os.chmod(KEPT, 0o600),
    "change rights by the newer call": lambda: system_call(452, -100, KEPT.encode(), 0o600, 0),
    "io_uring": lambda: system_call(425, 0, None),
    "change times": lambda: os.utime(KEPT),
    "set an attribute": lambda: os.setxattr(KEPT, "user.probe", b"x"),
    "empty a file by its name": lambda: os.truncate(KEPT, 0),
    "read the clock's settings": read_clock_settings,
    "new privileges": lambda: status("NoNewPrivs"),
    "Unix sockets": lambda: family(socket.AF_UNIX),
    "IPv4": lambda: family(socket.AF_INET),
    "IPv6": lambda: family(socket.AF_INET6),
    "netlink": lambda: family(socket.AF_NETLINK),
    "user namespace": lambda: call("unshare", 0x10000000),
    "other personality": lambda: call("personality", 0x0040000),
    "writable code": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close(),
    "set-user-ID file": set_user_id_bit,
    "32-bit system call": foreign_entry,
    "trace": lambda: call("ptrace", 0, 0, 0, 0),
    "own priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0)),
    "fences of its own": ask_for_landlock,
    "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
    "chroot": lambda: os.chroot("/"),
    "file mode mask": lambda: status("Umask"),
    "core size": lambda: open("/proc/self/limits").read().split("Max core file size", 1)[1].split()[0],
    "open files": lambda: open("/proc/self/limits").read().split("Max open files", 1)[1].split()[0],
}


def attempt(probe):
    try:
        return probe() or "allowed"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))


if __name__ == "__main__":
    print(json.dumps({name: attempt(probe) for name, probe in PROBES.items()}))
