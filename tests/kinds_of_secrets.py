"""Secrets of many kinds, put together here so that no scanner finds one in this file.

Kind to a text and the part of it that nobody may see.
"""

import base64

LETTERS = "Ab3dEf9hIj2kLm8nOp4qRs7tUv1wXy5z"
HEX = "0123456789abcdef0123456789abcdef"


def _jwt():
    parts = (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890","name":"Jo"}', b"x" * 24)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _pem():
    edge = "-" * 5
    body = "MIIEpAIBAAKCAQEA" + LETTERS
    return f"{edge}BEGIN RSA PRIVATE KEY{edge}\n{body}\n{edge}END RSA PRIVATE KEY{edge}", body


_PLAIN = {
    "aws access key": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp" + "_" + LETTERS + "6789",
    "github fine grained": "github" + "_pat_" + LETTERS,
    "gitlab": "glpat" + "-" + LETTERS[:20],
    "slack bot": "xoxb" + "-123456789012-" + LETTERS[:24],
    "stripe": "sk" + "_live_" + LETTERS[:24],
    "openai": "sk" + "-proj-" + LETTERS,
    "anthropic": "sk" + "-ant-api03-" + LETTERS,
    "hugging face": "hf" + "_" + LETTERS + "ab",
    "google api": "AI" + "za" + LETTERS + "abc",
    "google oauth": "ya" + "29." + LETTERS,
    "json web token": _jwt(),
    "npm": "npm" + "_" + LETTERS + "abcd",
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + LETTERS,
    "sendgrid": "SG" + "." + LETTERS[:22] + "." + LETTERS + "abcdefghijk",
    "twilio": "SK" + HEX,
    "databricks": "dapi" + HEX,
    "vault": "hv" + "s." + LETTERS,
    "digital ocean": "dop" + "_v1_" + HEX + HEX,
    "shopify": "shp" + "at_" + HEX,
    "telegram": "123456789" + ":AA" + LETTERS + "a",
    "age": "AGE-SECRET-" + "KEY-1" + LETTERS.upper(),
    "nvidia": "nv" + "api-" + LETTERS,
    "mailgun": "key" + "-" + HEX,
}
SECRETS = {kind: (secret, secret) for kind, secret in _PLAIN.items()} | {
    "private key": _pem(),
    "user and password in a URL": ("postgres://bob:hunter2x@db/prod", "hunter2x"),
    "password alone in a URL": ("redis://:hunter2x@cache:6379/0", "hunter2x"),
    "token as the user of a URL": (f"https://{LETTERS}@pkgs.example/simple", LETTERS),
    "token in a query": (f"https://h/x?a=1&access_token={LETTERS}&b=2", LETTERS),
    "signature in a query": ("https://h/x?sv=2020&sig=Zx9%2Fq8w%3D", "Zx9%2Fq8w"),
    "bearer": (f"Authorization: Bearer {LETTERS}", LETTERS),
    "basic": ("Authorization: Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
    "password in a text": ("login failed: password=swordfish9", "swordfish9"),
    "password in JSON": ('{"user": "bob", "password": "swordfish9"}', "swordfish9"),
    "api key in JSON": ('{"api_key": "swordfish9"}', "swordfish9"),
    "azure account key": (f"AccountName=x;AccountKey={LETTERS}==;EndpointSuffix=y", LETTERS),
    "aws secret key": (f"aws_secret_access_key = {LETTERS}", LETTERS),
    "cookie": ("Set-Cookie: sid4711abc", "sid4711abc"),
    "netrc": ("machine h login bob password swordfish9", "swordfish9"),
    "slack hook": (f"https://hooks.slack.com/services/T0/B0/{LETTERS}", LETTERS),
    "curl user": ("curl -u bob:swordfish9 https://h", "swordfish9"),
    "option with a value": ("mysql --password=swordfish9 -h db", "swordfish9"),
    "option and a value": ("tool --api-key swordfish9 run", "swordfish9"),
}
WITH_NAMES = (
    "DB_PASSWORD", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "HF_TOKEN", "OPENAI_API_KEY", "secret",
    "MYSQL_PWD", "SESSION_ID", "AUTHORIZATION", "SENTRY_DSN", "private_key", "AZURE_STORAGE_CONNECTION_STRING", "GITHUB_TOKEN",
    "passphrase", "credentials", "api-key", "x.token",
)  # fmt: skip
