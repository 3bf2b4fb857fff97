"""Apache with mod_oauth2: a resource server and a git server that ask the authorization server about each token."""

import contextlib
import os
import pwd
import subprocess
import time

import requests

from support import processes
from world import certificates
from world.git import make_repository

MODULES = "/usr/lib/apache2/modules"
LOADED = ["ssl", "mpm_event", "authz_core", "authn_core", "authz_user", "alias", "headers", "env", "setenvif", "dir",
          "mime", "oauth2", "cgid"]
# Answers of the authorization server are believed this long.
MEMORY_SECONDS = 1
START_LIMIT_SECONDS = 60


class Apache:
    """/api/hello.json and /git/ (clone and push) want an active token, /write/hello.json one with the scope `write`,
    /dpop/hello.json one that is bound to a key, and the key's proof.

    `introspection` is the endpoint that is asked about tokens (RFC 7662), `client` who asks.
    """

    def __init__(self, introspection, client, port, directory):
        self.introspection, self.client, self.directory, self.port = introspection, client, directory, port
        directory.mkdir()
        self.base = f"https://localhost:{port}"
        files = certificates.make(directory / "certificates")
        self.ca_file = files.authority
        self.log = directory / "server.log"
        for name in ("api", "write", "dpop"):
            (directory / "www" / name).mkdir(parents=True)
            (directory / "www" / name / "hello.json").write_text(f'{{"hello": "{name}"}}\n')
        (directory / "run").mkdir()
        (directory / "repositories").mkdir()
        make_repository(directory / "repositories")
        (directory / "apache.conf").write_text(self.configuration(files))
        self.give_away()
        self.start()

    resource = property(lambda self: self.base + "/api/hello.json")
    writable = property(lambda self: self.base + "/write/hello.json")
    proved = property(lambda self: self.base + "/dpop/hello.json")
    repository = property(lambda self: self.base + "/git/demo.git")

    def configuration(self, files):
        here, client = self.directory, self.client
        # `sub` is optional in the answers, and not every server sends it.
        claim = "\nOAuth2TargetPass remote_user_claim=client_id"
        asking = (
            f"OAuth2TokenVerify introspect {self.introspection} introspect.ssl_verify=false"
            f"&introspect.auth=client_secret_basic&client_id={client.id}&client_secret={client.secret}"
            f"&expiry={MEMORY_SECONDS}&introspect.expiry={MEMORY_SECONDS}")
        verify, prove = asking + claim, asking + "&type=dpop" + claim
        user = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
        modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in LOADED)
        return f"""
ServerName localhost
ServerRoot {here}
Listen 127.0.0.1:{self.port}
DefaultRuntimeDir {here}/run
PidFile {here}/run/pid
ErrorLog {self.log}
LogLevel warn
StartServers 1
ServerLimit 2
ThreadsPerChild 8
MinSpareThreads 4
MaxSpareThreads 16
MaxRequestWorkers 16
{modules}
{user}
TypesConfig /dev/null
AddType application/json .json
SSLEngine on
SSLCertificateFile {files.certificate}
SSLCertificateKeyFile {files.key}
DocumentRoot {here}/www
<Directory {here}/www>
  Require all denied
</Directory>
<Location /api>
  AuthType oauth2
  {verify}
  Require valid-user
</Location>
<Location /write>
  AuthType oauth2
  {verify}
  Require oauth2_claim scope:write
</Location>
<Location /dpop>
  AuthType oauth2
  {prove}
  OAuth2AcceptTokenIn header name=Authorization&type=DPoP
  Require valid-user
</Location>
ScriptSock {here}/run/cgid.sock
SetEnv GIT_PROJECT_ROOT {here}/repositories
SetEnv GIT_HTTP_EXPORT_ALL 1
SetEnv GIT_CONFIG_COUNT 1
SetEnv GIT_CONFIG_KEY_0 safe.directory
SetEnv GIT_CONFIG_VALUE_0 *
ScriptAlias /git/ /usr/lib/git-core/git-http-backend/
<Location /git>
  AuthType oauth2
  {verify}
  OAuth2AcceptTokenIn header
  OAuth2AcceptTokenIn basic
  Require valid-user
</Location>
Header always add WWW-Authenticate 'Basic realm="git"' \\
  "expr=%{{REQUEST_STATUS}} == 401 && %{{REQUEST_URI}} =~ m#^/git/#"
"""

    def give_away(self):
        """Apache gives root up: what it serves and writes must be its user's."""
        if os.geteuid() != 0:
            return
        user = pwd.getpwnam("www-data")
        for folder, _, files in os.walk(self.directory):
            for path in [folder, *(os.path.join(folder, file) for file in files)]:
                os.chown(path, user.pw_uid, user.pw_gid)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", str(self.directory / "apache.conf")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        processes.keep(self.process.pid)
        end = time.monotonic() + START_LIMIT_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(requests.ConnectionError, requests.Timeout):
                if self.ask(self.resource).status_code == 401:
                    return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"apache did not start:\n{self.log.read_text(errors='replace')[-4000:]}")

    def ask(self, url, token=None, headers=None):
        headers = headers or ({"Authorization": f"Bearer {token}"} if token else {})
        with requests.Session() as session:
            session.trust_env, session.verify = False, str(self.ca_file)
            return session.get(url, headers=headers, timeout=20)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
