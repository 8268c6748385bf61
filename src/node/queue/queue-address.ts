/**
 * Where a queue is: a URL of Redis with its user, password, database and TLS. The password is used to connect and for
 * nothing else: what is shown, written or put into a job has the address without it, and words of other programs that
 * could hold it go through `hideSecrets` first.
 */
import { InputError } from "../../core/errors.ts";
import type { RedisOptions } from "./queue-packages.ts";

export interface QueueAddress {
  readonly options: Readonly<RedisOptions>;
  /** Without user and password. */
  readonly shown: string;
  /** A text with every form of the password in it covered. */
  readonly hideSecrets: (text: string) => string;
}

const USUAL_PORT = 6379;
/** Stands where a password stood. */
const COVER = "[hidden]";

/** A password that is not in the URL is taken from where redis-cli takes it: no list of processes shows it. */
const PASSWORD_VARIABLE = "REDISCLI_AUTH";

/** Messages do not repeat the text, since a password may stand anywhere in it. */
export function parseQueueAddress(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): QueueAddress {
  const url = parseUrl(text);
  const database = /^\/?(\d*)\/?$/.exec(url.pathname)?.[1];
  if (!/^rediss?:$/.test(url.protocol) || url.hostname === "" || database === undefined)
    throw refuseAddress();
  const [username, password] = [url.username, url.password].map(decode);
  const secret = password === "" ? (environment[PASSWORD_VARIABLE] ?? "") : password;
  const port = url.port === "" ? USUAL_PORT : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const isSecure = url.protocol === "rediss:";
  return {
    options: {
      host,
      port,
      ...(username === "" ? {} : { username }),
      ...(secret === "" ? {} : { password: secret }),
      ...(database === "" ? {} : { db: Number(database) }),
      ...(isSecure ? { tls: {} } : {}),
    },
    shown: `${url.protocol}//${url.hostname}:${port}${database === "" ? "" : `/${database}`}`,
    hideSecrets: createCover([secret, url.password, encodeURIComponent(secret)]),
  };
}

function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch {
    throw refuseAddress();
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function createCover(secrets: readonly string[]): (text: string) => string {
  // The longest first: one form may be a part of another.
  const forms = [...new Set(secrets)].filter((form) => form !== "").sort((a, b) => b.length - a.length);
  return (text) => forms.reduce((covered, form) => covered.replaceAll(form, COVER), text);
}

function refuseAddress(): InputError {
  return new InputError("--queue is no address of a Redis (it is not shown, since it may hold a password)", {
    code: "queue.address",
    hint:
      "expected redis://host:6379, or rediss:// for TLS; a user and password go before the host, user:password@, " +
      "with special characters as %40",
  });
}
