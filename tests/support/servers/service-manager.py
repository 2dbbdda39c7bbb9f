"""service-manager.py NOTICES ADDRESS:PORT... -- PROGRAM... - a service manager for one program, as
sd_listen_fds(3) and sd_notify(3) say: it holds the sockets, passes them from descriptor 3 on, and appends each
message of the program to the file NOTICES. SIGUSR1 restarts the program (SIGTERM first), SIGHUP is handed on,
SIGTERM ends both."""
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading

notices = sys.argv[1]
split = sys.argv.index("--")
program = sys.argv[split + 1:]
sockets = []
for number, address in enumerate(sys.argv[2:split]):
    host, port = address.rsplit(":", 1)
    held = socket.create_server((host, int(port)), backlog=1024)
    os.dup2(held.fileno(), 100 + number, inheritable=False)
    sockets.append(held)

told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
told.bind(notices + ".socket")


def listen():
    while True:
        message = told.recv(4096).decode()
        with open(notices, "a") as file:
            file.write(message.replace("\n", " ") + "\n")


threading.Thread(target=listen, daemon=True).start()


def descriptors():
    """In the new process, before it becomes the program."""
    signal.pthread_sigmask(signal.SIG_SETMASK, set())
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with its manager
    os.environ["LISTEN_PID"] = str(os.getpid())
    for number in range(len(sockets)):
        os.dup2(100 + number, 3 + number, inheritable=True)


def start():
    return subprocess.Popen(program, close_fds=False, preexec_fn=descriptors)


os.environ["LISTEN_FDS"] = str(len(sockets))
os.environ["NOTIFY_SOCKET"] = notices + ".socket"
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD})
running = start()
while True:
    got = signal.sigwait({signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD})
    if got == signal.SIGHUP:
        running.send_signal(signal.SIGHUP)
    elif got == signal.SIGCHLD:
        if running.poll() is not None:
            sys.exit(running.returncode)
    else:
        running.send_signal(signal.SIGTERM)
        code = running.wait()
        if got == signal.SIGTERM:
            sys.exit(code)
        running = start()
