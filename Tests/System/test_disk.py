"""R5: a disk that is full is a failure, told at once, and afterwards everything goes on."""

from network.namespaces import isolated, needs_root, run
from support.login import get_token, log_in, wait_until

SIZE_KIB = 512


@needs_root
def test_a_full_disk_is_told_at_once_and_costs_no_login(home, world):
    """What is to be sent cannot be written down, so nothing is sent."""
    server = world(access_ttl=6)

    def fill():
        with open(home.data / "filler", "wb", buffering=0) as file:
            try:
                while file.write(bytes(1024)):
                    pass
            except OSError:
                pass

    def on_a_small_disk():
        run("mount", "-t", "tmpfs", "-o", f"size={SIZE_KIB}k,mode=700", "none", home.data)
        home.agent.start()
        log_in(home, server)
        token, mark = get_token(home), server.mark()
        fill()
        failed = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).status and it, 30, "a failure")
        assert failed.stdout == "" and failed.status == 6 and "full" in failed.stderr, failed
        assert server.refreshes(mark) == []
        [line] = [line for line in home.oauthctl("status").lines if line.startswith("work ")]
        assert "login needed" not in line, line
        (home.data / "filler").unlink()
        new = wait_until(
            lambda: (it := home.oauthctl("get-token", "work", check=False)).stdout.strip(), 60, "a token again")
        assert new != token and {entry["status"] for entry in server.refreshes(mark)} == {200}
        home.agent.stop()

    isolated(on_a_small_disk)
