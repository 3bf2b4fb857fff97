"""A disk without room costs no login, not even together with kill -9."""

import pytest

from network.namespaces import isolated, needs_root, run
from support.disk import fill
from support.login import get_token, log_in, wait_until


@needs_root
@pytest.mark.parametrize("is_full", [False, True], ids=["room at the next start", "still none"])
def test_no_room_for_a_rotated_token_and_kill_9_cost_no_login(home, world, is_full):
    """The server allows no second use of a refresh token."""
    server = world(access_ttl=4)
    filler, aside = home.data / "filler", home.runtime / "oauthctl" / "spill"

    def kept():
        return [path for path in aside.iterdir() if path.suffix != ".new"] if aside.is_dir() else []

    def story():
        run("mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", home.data)
        home.agent.start()
        log_in(home, server)
        first, mark = get_token(home), server.mark()
        with server.token_answers_held():
            wait_until(lambda: server.refreshes(mark), 20, "a refresh")
            fill(filler)
        wait_until(kept, 20, "the record kept aside")
        home.agent.kill()
        if not is_full:
            filler.unlink()
        home.agent.start()
        state = home.oauthctl("status").stdout
        assert "login" not in state.splitlines()[1], state
        assert bool(kept()) == is_full
        filler.unlink(missing_ok=True)
        token = wait_until(lambda: home.oauthctl("get-token", "work", check=False).stdout.strip(), 30, "a token")
        assert token != first and server.say_hello(token) == 200
        used = wait_until(
            lambda: get_token(home) and len(seen := server.refreshes(mark)) >= 2 and seen, 30, "the next refresh")
        assert {entry["status"] for entry in used} == {200}
        assert len({entry["refresh_token"] for entry in used}) == len(used), "a refresh token was sent twice"
        wait_until(lambda: not kept(), 20, "nothing kept aside")

    isolated(story)
