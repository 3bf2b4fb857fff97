"""docs/configuration.md and docs/tokens.md say what the source says."""

import re

from conftest import ROOT

CONFIGURATION = (ROOT / "docs/configuration.md").read_text()
TOKENS = (ROOT / "docs/tokens.md").read_text()
SOURCES = ROOT / "Sources"


def section(title):
    return re.search(rf"(?ms)^## {title}\n(.*?)(?=^## |\Z)", CONFIGURATION).group(1)


def rows(text):
    """key -> the other cells of each row of the first table, whose first cell is a key."""
    text = re.search(r"(?m)(?:^\|.*\n)+", text).group()
    return {row[0]: row[1:] for row in re.findall(r"(?m)^\| `(\w+)` \| (.*?) \| (.*?) \|(?: (.*?) ?\|)?$", text)}


def known_keys(file):
    text = (SOURCES / "AgentRuntime/Configuration" / file).read_text()
    return re.findall(r'"(\w+)"', re.search(r"static let known = \[(.*?)\]", text, re.S).group(1))


def test_every_key_of_an_account_is_described():
    keys = known_keys("DefinitionReader.swift")
    assert len(keys) > 15 and list(rows(section("An account"))) == keys


def test_every_key_of_the_agent_is_described():
    keys = known_keys("AgentSettings.swift")
    assert keys and list(rows(section("The agent"))) == keys


def test_what_a_login_is_bound_to_is_described():
    text = (SOURCES / "AgentCore/Accounts/DefinitionBinding.swift").read_text()
    resending = (SOURCES / "AgentCore/Accounts/ResendPolicy.swift").read_text()
    always = set(re.findall(r'(?<!func )compare\(\s*"(\w+)"', text))
    always |= set(re.findall(r'DefinitionDifference\(\s*"(\w+)"', resending))
    when_written = set(re.findall(r'(?<!func )compareIfSet\(\s*"(\w+)"', text))
    told = {key: cells[2] for key, cells in rows(section("An account")).items()}
    assert {key for key, bound in told.items() if bound.startswith("yes")} == always
    assert {key for key, bound in told.items() if bound == "when written"} == when_written


def test_the_words_of_a_choice_are_the_source():
    told = rows(section("An account"))
    text = (SOURCES / "AgentCore/Accounts/AccountDefinition.swift").read_text()
    for key, name in (("keep", "KeepPolicy"), ("ambiguous_retry", "AmbiguousRetry")):
        body = re.search(rf"enum {name}\b.*?\{{(.*?)\}}", text, re.S).group(1)
        cases = [
            word for line in re.findall(r"case ([^\n}]+)", body) for part in line.split(",")
            for word in re.findall(r'"([\w-]+)"', part) or re.findall(r"\w+", part)[:1]]
        assert re.findall(r"`([\w-]+)`", told[key][0]) == cases, key


def test_lists_are_bounded_as_described():
    text = (SOURCES / "AgentRuntime/Configuration/DefinitionReader.swift").read_text()
    bounds = dict(re.findall(r'(?:words|parameters)\(\s*"(\w+)", limit: (\d+)', text))
    scopes = re.search(r"limit = (\d+)", (SOURCES / "OAuthProtocol/Token/ScopeList.swift").read_text()).group(1)
    bounds |= {key: scopes for key in re.findall(r'scopes\("(\w+)", separator\)', text)}
    parameters = re.search(r"keys\.table\(key, limit: (\d+)\)", text).group(1)
    bounds |= {"authorize_parameters": parameters, "token_parameters": parameters}
    told = {
        key: found.group(1) for key, cells in rows(section("An account")).items()
        if (found := re.search(r"at most (\d+)", cells[0]))}
    assert told == bounds


def test_the_numbers_of_tokens_are_the_source():
    table = re.findall(r"(?m)^\| .+? \| ([\d._ *]+) \| `(\w+)\.(\w+)` \|$", TOKENS)
    assert len(table) >= 15
    everything = [path.read_text() for path in (SOURCES / "AgentCore").rglob("*.swift")]
    for value, owner, name in table:
        files = [text for text in everything if re.search(rf"(struct|enum|extension|actor) {owner}\b", text)]
        pattern = rf"static let {name} = ([\d._ *]+?) *(?://.*)?\n"
        found = [match for text in files for match in re.findall(pattern, text)]
        assert found == [value], f"{owner}.{name}"


def test_every_test_that_a_claim_names_is_there():
    for name, least in (("threat-model.md", 40), ("reliability.md", 30)):
        named = re.findall(r"`([\w/]+\.py)::(\w+)`", (ROOT / "docs" / name).read_text())
        assert len(named) >= least
        gone = [(file, test) for file, test in named
                if not re.search(rf"(?m)^def {test}\(", (ROOT / "Tests/System" / file).read_text())]
        assert gone == [], name


def test_a_wrong_key_is_told_as_shown(home, agent):
    example = re.search(r"(?ms)^```\n\$ oauthctl reload\n(.*?)^```$", CONFIGURATION).group(1)
    account = re.search(r"(?ms)^```toml\n(.*?)^```$", CONFIGURATION).group(1)
    folder = home.config / "oauthctl" / "accounts.d"
    folder.mkdir(parents=True, mode=0o700)
    file = folder / "work.toml"
    file.write_text(account)
    file.chmod(0o600)
    assert home.oauthctl("reload").stderr == "Read 1 account.\n"
    file.write_text(account + 'scopes = "read"\n')
    told = home.oauthctl("reload", check=False)
    assert told.status == 3
    assert told.stderr.replace(home.shown(file), "~/.config/oauthctl/accounts.d/work.toml") == example
