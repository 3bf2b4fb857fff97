"""Clients that prove themselves by signed assertions (RFC 7523, OpenID Connect Core section 9), judged by jwcrypto."""

import json

import pytest
from jwcrypto import jwk

from login.assertion_judge import SECRET, Judge
from login.provider import use_silent_browser
from support.accounts import account_file, edit
from support.login import get_token


@pytest.fixture
def provider():
    with Judge() as provider:
        yield provider


@pytest.fixture
def home(home):
    use_silent_browser(home)
    return home


def define(home, provider, method="private_key_jwt", *lines):
    home.oauthctl("vault", "create", check=False)
    provider.define(home, 'scope = "read"', f'client_authentication = "{method}"', *lines)


def pem(password=None, **kind):
    return jwk.JWK.generate(**kind).export_to_pem(private_key=True, password=password).decode()


@pytest.mark.parametrize("algorithm", ["ES256", "ES384", "EdDSA", "RS256", "PS256"])
def test_a_key_from_the_vault_proves_the_client_at_login_refresh_and_logout(home, agent, provider, algorithm):
    define(home, provider)
    made = home.oauthctl("key", "create", "work", "--algorithm", algorithm)
    public = json.loads(made.stdout)
    assert public["alg"] == algorithm and not {"d", "p", "q", "k"} & set(public)
    provider.register(made.stdout, algorithm)
    assert provider.keys.get_key(public["kid"]).thumbprint() == public["kid"]
    home.oauthctl("login", "work")
    home.oauthctl("get-token", "work", "--force")
    home.oauthctl("logout", "work")
    assert provider.kinds()[1:4] == ["authorization_code", "refresh_token", "revoke"]
    assert "refused" not in provider.kinds()
    assert len(provider.claims) >= 3
    for header, claims in provider.claims:
        assert header == {"alg": algorithm, "kid": public["kid"], "typ": "JWT"}
        assert set(claims) == {"aud", "exp", "iat", "iss", "jti", "sub"} and claims["aud"] == provider.issuer


EC, EDWARDS, RSA = {"kty": "EC", "crv": "P-256"}, {"kty": "OKP", "crv": "Ed25519"}, {"kty": "RSA", "size": 2048}


@pytest.mark.parametrize("kind", [EC, EDWARDS, RSA])
def test_an_imported_key_signs_and_is_nowhere_in_the_clear(home, agent, provider, kind):
    text = pem(**kind)
    key = jwk.JWK.from_pem(text.encode())
    define(home, provider)
    kept = home.oauthctl("key", "import", "work", stdin=text)
    public = json.loads(kept.stdout)
    assert public["kid"] == key.thumbprint()
    provider.register(key.export_public(), public["alg"])
    home.oauthctl("login", "work")
    assert get_token(home).startswith("access-")
    assert json.loads(home.oauthctl("key", "show", "work").stdout) == public
    agent.stop()
    body = "".join(text.splitlines()[1:-1])
    private = json.loads(key.export_private())["d"]
    for path in home.files():
        content = path.read_bytes()
        assert body[:40].encode() not in content and private.encode() not in content, path


def test_a_jwk_keeps_its_name_and_algorithm(home, agent, provider):
    key = jwk.JWK.generate(kty="RSA", size=2048, kid="of-the-house", alg="PS256")
    define(home, provider)
    home.oauthctl("key", "import", "work", stdin=key.export_private())
    provider.register(key.export_public(), "PS256")
    home.oauthctl("login", "work")
    assert provider.claims[0][0] == {"alg": "PS256", "kid": "of-the-house", "typ": "JWT"}


def test_a_key_lives_on_over_a_restart_and_a_lock(home, agent, provider):
    define(home, provider)
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    home.oauthctl("login", "work")
    agent.restart()
    home.oauthctl("vault", "lock")
    home.oauthctl("vault", "unlock", check=False)
    home.oauthctl("get-token", "work", "--force")
    assert provider.kinds()[-1] == "refresh_token"


def test_a_shared_secret_signs_and_is_not_sent(home, agent, provider):
    provider.keys.add(jwk.JWK.from_password(SECRET))
    provider.algorithms = ["HS256"]
    home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--scope", "read", "--client-authentication",
        "client_secret_jwt", "--client-secret-stdin", stdin=SECRET + "\n")
    home.oauthctl("get-token", "work", "--force")
    assert provider.kinds() == ["authorize", "authorization_code", "refresh_token"]
    assert SECRET not in str(provider.seen)


def test_an_assertion_is_for_the_token_endpoint_where_the_file_says_so(home, agent, provider):
    define(home, provider, "private_key_jwt", 'assertion_audience = "token_endpoint"')
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 9 and provider.form("refused")["why"].startswith("JWTInvalidClaimValue"), provider.seen
    assert "oauthctl key show work" in refused.stderr and "assertion_audience" in refused.stderr
    provider.audience = provider.issuer + "/token"
    home.oauthctl("login", "work")


def test_an_assertion_is_for_each_endpoint_where_the_login_says_so(home, agent, provider):
    home.oauthctl("login", "work", provider.issuer, "--client-id", "mine", "--client-authentication", "private_key_jwt",
                  "--assertion-audience", "endpoint", check=False)
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    provider.audience = None
    home.oauthctl("login", "work")
    home.oauthctl("logout", "work")
    assert {claims["aud"] for _, claims in provider.claims} == {provider.issuer + "/token", provider.issuer + "/revoke"}
    assert "refused" not in provider.kinds()


def test_a_shared_secret_that_has_only_signed_is_not_sent_without_a_yes(home, agent, provider):
    """The line is taken out of the file, and the metadata now list another way."""
    provider.keys.add(jwk.JWK.from_password(SECRET))
    provider.algorithms = ["HS256"]
    home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--client-authentication", "client_secret_jwt",
        "--client-secret-stdin", stdin=SECRET + "\n")
    edit(home, "work", client_authentication=None)
    provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 64 and "client_authentication" in refused.stderr, refused
    assert SECRET not in str(provider.seen)


def test_no_other_server_gets_an_assertion_that_is_good_at_the_token_endpoint(home, agent, provider):
    """An issuer names the token endpoint of another server, and endpoints of its own for the rest."""
    with Judge() as other:
        other.metadata["token_endpoint"] = provider.issuer + "/token"
        define(home, other, "private_key_jwt", 'assertion_audience = "token_endpoint"')
        key = home.oauthctl("key", "create", "work").stdout
        provider.register(key, "ES256")
        other.register(key, "ES256")
        provider.audience, other.audience = provider.issuer + "/token", None
        home.oauthctl("login", "work")
        home.oauthctl("logout", "work")
        assert {claims["aud"] for _, claims in provider.claims} == {provider.issuer + "/token"}
        assert {claims["aud"] for _, claims in other.claims} == {other.issuer + "/revoke"}
        assert "refused" not in other.kinds()


def test_a_refusal_without_a_reason_may_be_about_the_client(home, agent, provider):
    define(home, provider, "private_key_jwt", 'assertion_audience = "token_endpoint"')
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    provider.tells = False
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 9 and "no reason" in refused.stderr, refused
    assert "oauthctl key show work" in refused.stderr and "assertion_audience" in refused.stderr


def test_a_new_account_is_told_to_make_its_key_and_stays(home, agent, provider):
    refused = home.oauthctl(
        "login", "work", provider.issuer, "--client-id", "mine", "--client-authentication", "private_key_jwt",
        check=False)
    assert refused.status == 3 and "oauthctl key create work" in refused.stderr
    assert account_file(home, "work").exists() and provider.seen == []
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    home.oauthctl("login", "work")


def test_a_key_is_not_overwritten_and_not_sent_as_a_secret(home, agent, provider):
    define(home, provider)
    made = home.oauthctl("key", "create", "work").stdout
    for command in (["create", "work"], ["import", "work"]):
        refused = home.oauthctl("key", *command, stdin=pem(**EDWARDS), check=False)
        assert refused.status != 0 and "--replace" in refused.stderr
    assert home.oauthctl("key", "show", "work").stdout == made
    refused = home.oauthctl("secret", "set", "work", "client_secret", stdin="s3cret\n", check=False)
    assert refused.status != 0 and "key import" in refused.stderr
    # A file that names another method takes the key away from nobody, either.
    edit(home, "work", client_authentication='"client_secret_basic"')
    refused = home.oauthctl("secret", "set", "work", "client_secret", stdin="s3cret\n", check=False)
    assert refused.status != 0 and "key delete work" in refused.stderr
    # By whatever other way the file then names, the key is not what is sent.
    for method in ("client_secret_basic", "client_secret_post", "client_secret_jwt"):
        edit(home, "work", client_authentication=f'"{method}"')
        refused = home.oauthctl("login", "work", "--accept-changes", check=False)
        assert refused.status == 3 and "private key" in refused.stderr, refused
    # No browser was opened for it.
    assert provider.seen == []
    edit(home, "work", client_authentication='"private_key_jwt"')
    assert home.oauthctl("key", "create", "work", "--replace").stdout != made
    home.oauthctl("key", "delete", "work", "--yes")
    assert home.oauthctl("key", "show", "work", check=False).status == 3


def test_a_client_that_can_never_prove_itself_is_not_told_to_try_again(home, agent, provider):
    define(home, provider)
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    home.oauthctl("login", "work")
    edit(home, "work", client_authentication='"client_secret_post"')
    home.oauthctl("account", "accept", "work", "--yes")
    before = provider.kinds()
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 9 and "private key" in refused.stderr and "try again" not in refused.stderr, refused
    assert "oauthctl key delete work" in refused.stderr and "oauthctl secret set work client_secret" in refused.stderr
    home.oauthctl("key", "delete", "work", "--yes")
    refused = home.oauthctl("get-token", "work", "--force", check=False)
    assert refused.status == 9 and "run: oauthctl secret set work client_secret" in refused.stderr, refused
    assert provider.kinds() == before


@pytest.mark.parametrize("text, words", [
    ("hello", "neither"),
    ("-----BEGIN PRIVATE KEY-----\nAAEC\n-----END PRIVATE KEY-----\n", "no unencrypted private key"),
    ('{"kty":"oct","k":"AAECAwQFBgcICQoLDA0ODw"}', "shared secret"), ("{" * 20_000, "not usable"),
    ("A" * 40_000, "32 KiB"),
    (lambda: jwk.JWK.generate(kty="EC", crv="P-256", alg="none").export_private(), "its alg"),
    (lambda: jwk.JWK.generate(kty="EC", crv="P-256", alg="RS256").export_private(), "its alg"),
    (lambda: jwk.JWK.generate(kty="EC", crv="P-256").export_public(), "private key is needed"),
    (lambda: jwk.JWK.generate(kty="EC", crv="P-521").export_private(), "crv"),
    (lambda: pem(kty="EC", crv="secp256k1"), "none of these keys"),
    (lambda: pem(kty="RSA", size=1024), "none of these keys"),
    # A DSA key whose numbers are none: they are not looked at.
    ("-----BEGIN PRIVATE KEY-----\nMBECAQAwCQYHKoZIzjgEAQQBAA==\n-----END PRIVATE KEY-----\n", "none of these keys"),
    (lambda: pem(b"passphrase", **EDWARDS), "encrypted\n  run: openssl pkey -in FILE | oauthctl key import work\n"),
])
def test_what_is_no_key_for_this_is_refused_with_its_reason_and_not_kept(home, agent, provider, text, words):
    define(home, provider)
    text = text() if callable(text) else text
    refused = home.oauthctl("key", "import", "work", stdin=text, check=False)
    assert refused.status != 0 and words in refused.stderr, refused
    assert len(refused.stderr) < 1_000 and refused.stdout == ""
    assert home.oauthctl("key", "show", "work", check=False).status == 3


def test_an_account_without_the_method_takes_no_key(home, agent, provider):
    define(home, provider, "client_secret_basic")
    refused = home.oauthctl("key", "create", "work", check=False)
    assert refused.status == 3 and 'client_authentication = "private_key_jwt"' in refused.stderr


# The same key where nobody logs in

def test_a_machine_proves_itself_by_its_key_anew_for_each_token(home, agent, provider):
    define(home, provider, "private_key_jwt", 'grant = "client_credentials"')
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    home.oauthctl("login", "work")
    home.oauthctl("get-token", "work", "--force")
    assert provider.kinds() == ["client_credentials"] * 2
    assert len({claims["jti"] for _, claims in provider.claims}) == 2


def test_an_assertion_is_the_grant_of_a_service_account(home, agent, provider):
    """As Google's: the key comes in its file, and the assertion names the scope and is for the token endpoint."""
    key = jwk.JWK.generate(**RSA)
    file = {"type": "service_account", "private_key_id": "8f3a", "client_email": "mine",
            "private_key": key.export_to_pem(private_key=True, password=None).decode()}
    home.oauthctl("vault", "create", check=False)
    provider.define(
        home, 'scope = "read write"', 'grant = "jwt_bearer"', 'username = "alice"',
        'assertion_audience = "token_endpoint"')
    provider.grants = True
    assert "work: no token yet\n  run: oauthctl key create work" in home.oauthctl("status").stdout
    refused = home.oauthctl("login", "work", check=False)
    assert refused.status == 3 and "oauthctl key create work" in refused.stderr
    kept = home.oauthctl("key", "import", "work", stdin=json.dumps(file, indent=2))
    provider.register(kept.stdout, "RS256")
    home.oauthctl("login", "work")
    assert get_token(home).startswith("access-")
    home.oauthctl("get-token", "work", "--force")
    assert provider.kinds() == ["urn:ietf:params:oauth:grant-type:jwt-bearer"] * 2
    for header, claims in provider.claims:
        assert header["kid"] == "8f3a" and claims["scope"] == "read write" and claims["sub"] == "alice"
        assert claims["aud"] == provider.issuer + "/token" and claims["iss"] == "mine"


def test_a_key_that_is_gone_is_told_once_with_what_makes_another(home, agent, provider):
    define(home, provider)
    assert "oauthctl key create work" in home.oauthctl("status").stdout, "of a new account, too"
    provider.register(home.oauthctl("key", "create", "work").stdout, "ES256")
    home.oauthctl("login", "work")
    told = home.oauthctl("key", "delete", "work", "--yes")
    assert "work cannot renew its tokens" in told.stderr and "oauthctl key create work" in told.stderr
    assert home.oauthctl("status").lines[1].split()[:3] == ["work", "key", "missing"]
    for command in ("status", "account show work", "doctor work", "get-token work --force", "key show work"):
        told = home.oauthctl(*command.split(), check=False)
        shown = told.stdout + told.stderr
        assert shown.count("oauthctl key create work") == 1 and "account show" not in shown, told
        assert "oauthctl key import work < FILE" in shown and "oauthctl key show" not in shown, told
    edit(home, "work", client_authentication='"none"')
    told = [home.oauthctl("key", command, "work", check=False) for command in ("show", "create")]
    assert all("its file names no use for a private key" in one.stderr for one in told), told
