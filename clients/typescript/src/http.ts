// One call with all its attempts. Types of paths, bodies and responses come from the OpenAPI document.
import type { paths } from "./document.js";
import { ConfigurationError, ConnectionFailed, ServiceError, SiteglassError, errorClass } from "./errors.js";
import type { Detail } from "./errors.js";

export interface Options {
  /** Default: SITEGLASS_API_KEY. */
  api_key?: string;
  /** Default: SITEGLASS_URL. */
  base_url?: string;
  /** For one attempt. */
  timeout_s?: number;
  /** For a call with all its attempts and waits. */
  deadline_s?: number;
  max_attempts?: number;
}

type Verb = "get" | "post" | "delete";
type Content<R> = R extends { content: { "application/json": infer B } } ? B : never;
export type Verbs<P extends keyof paths> = {
  [V in Verb]: paths[P][V] extends { responses: object } ? V : never;
}[Verb];
export type Result<O> = O extends { responses: infer R } ? Content<R[keyof R & (200 | 201 | 202)]> : never;
type Body<O> = O extends { requestBody?: infer B } ? Content<NonNullable<B>> : never;
type Parameters<O, K extends string> = O extends { parameters: { [N in K]?: infer Q } } ? NonNullable<Q> : never;
export interface Given<O> {
  path?: Parameters<O, "path">;
  query?: Parameters<O, "query">;
  body?: Body<O>;
  /** Default for a POST: a new one. With the same one and the same body, a request is paid once. */
  idempotency_key?: string;
}

export interface Answer<B> {
  body: B;
  request_id: string | null;
  lead_credits_used: number;
  api_credits_used: number;
  lead_credits_left: number | null;
  hint: string | null;
}

const MAX_WAIT_S = 10;
const FIRST_WAIT_S = 0.25;
// A wrong address should be reported soon: it never answered.
const FIRST_CONTACT_ATTEMPTS = 3;
const RETRIED = new Set([429, 500, 502, 503, 504]);
// Said only if no attempt before, with the same Idempotency-Key, was charged.
const SETTLED = new Set(
  ["INSUFFICIENT_CREDITS", "CREDIT_CAP_EXCEEDED", "PAYLOAD_TOO_LARGE", "IDEMPOTENCY_PRICE_CHANGED"],
);
declare const process: { env: Record<string, string | undefined> } | undefined;

function configured(given: string | undefined, option: string, variable: string): string {
  const value = (given ?? (typeof process === "undefined" ? "" : process.env[variable] ?? "")).trim();
  if (!value) throw new ConfigurationError(`No ${option} was given: pass it, or set ${variable}.`);
  return value;
}

export class Http {
  readonly #base: string;
  readonly #key: string;
  readonly #options: Options;
  #answered = false;

  constructor(options: Options) {
    this.#options = options;
    this.#key = configured(options.api_key, "api_key", "SITEGLASS_API_KEY");
    this.#base = configured(options.base_url, "base_url", "SITEGLASS_URL").replace(/\/+$/, "");
    if (!/^[!-~]+$/.test(this.#key)) throw new ConfigurationError("The API key contains characters that no key has.");
    if (!/^https?:\/\/[^/?#]+[^?#]*$/.test(this.#base) || this.#base.endsWith("/v1")) {
      throw new ConfigurationError(`The service URL must look like https://leads.example.com, but is ${this.#base}.`);
    }
  }

  /** The response of an operation, however many attempts it takes within the deadline; the same request each time. */
  async send<P extends keyof paths, V extends Verbs<P>>(
    verb: V, path: P, given: Given<paths[P][V]> = {},
  ): Promise<Answer<Result<paths[P][V]>>> {
    const { max_attempts = 10, deadline_s = 120, timeout_s = 30 } = this.#options;
    const ends = Date.now() + deadline_s * 1000;
    const headers: Record<string, string> = { "X-API-Key": this.#key, Accept: "application/json" };
    if (verb === "post") headers["Idempotency-Key"] = given.idempotency_key ?? crypto.randomUUID();
    if (given.body !== undefined) headers["Content-Type"] = "application/json";
    // Redirects are not followed: the key goes to the address that was given, and nowhere else.
    const request: RequestInit = { method: verb.toUpperCase(), headers, redirect: "manual" };
    if (given.body !== undefined) request.body = JSON.stringify(given.body);
    const url = this.#base + filled(path, given.path ?? {}, given.query ?? {});
    let unsure = false;
    for (let failed = 1; ; failed++) {
      const left_ms = Math.max(1, Math.min(timeout_s * 1000, ends - Date.now()));
      const answer = await attempt<Result<paths[P][V]>>(url, { ...request, signal: AbortSignal.timeout(left_ms) });
      this.#answered ||= !(answer instanceof ConnectionFailed);
      if (!(answer instanceof SiteglassError)) return answer;
      let wait_s = Math.random() * Math.min(MAX_WAIT_S, FIRST_WAIT_S * 2 ** (failed - 1));
      if (answer instanceof ServiceError) {
        answer.may_be_charged = unsure = (unsure || answer.may_be_charged) && !SETTLED.has(answer.code);
        if (answer.retry_after_s !== null) wait_s = answer.retry_after_s + Math.min(wait_s, FIRST_WAIT_S);
      } else unsure = true;
      const attempts = this.#answered ? max_attempts : Math.min(max_attempts, FIRST_CONTACT_ATTEMPTS);
      if (!isRetried(answer) || failed >= attempts || Date.now() + wait_s * 1000 >= ends) {
        throw answer instanceof ConnectionFailed ? new ConnectionFailed(answer.reason, failed) : answer;
      }
      await new Promise((resolve) => setTimeout(resolve, wait_s * 1000));
    }
  }
}

function isRetried(error: ServiceError | ConnectionFailed): boolean {
  return error instanceof ConnectionFailed || RETRIED.has(error.status) || error.code === "IDEMPOTENCY_IN_PROGRESS";
}

async function attempt<B extends object>(
  url: string, request: RequestInit,
): Promise<Answer<B> | ServiceError | ConnectionFailed> {
  try {
    const response = await fetch(url, request);
    const text = await response.text();
    return response.ok ? read<B>(text, response.headers) : refusal(response.status, text, response.headers);
  } catch (error) {
    if (!(error instanceof Error)) return new ConnectionFailed(String(error));
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
    return new ConnectionFailed(error.message + cause);
  }
}

function filled(path: string, values: object, query: object): string {
  const parts = new Map<string, string>(Object.entries(values));
  const place = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts.get(name) ?? ""));
  const named = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(named.map(([name, value]) => [name, String(value)])).toString();
  return text ? `${place}?${text}` : place;
}

function read<B extends object>(text: string, headers: Headers): Answer<B> | ConnectionFailed {
  const body = parsed<B>(text);
  if (body === null) return new ConnectionFailed(`a response of ${text.length} characters is not complete JSON`);
  const left = headers.get("x-credits-lead-remaining");
  return {
    body,
    request_id: headers.get("idempotency-request-id") ?? headers.get("x-request-id"),
    lead_credits_used: Number(headers.get("x-credits-lead-used")),
    api_credits_used: Number(headers.get("x-credits-api-used")),
    lead_credits_left: left === null ? null : Number(left),
    hint: headers.has("x-query-hint") ? decodeURIComponent(headers.get("x-query-hint") ?? "") : null,
  };
}

/** A JSON object, whose type is what the OpenAPI document promises; null if it is none. */
function parsed<B extends object>(text: string): B | null {
  try {
    const value: B | null = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function refusal(status: number, text: string, headers: Headers): ServiceError {
  const { error = `HTTP_${status}`, message, details = [] } =
    parsed<{ error?: string; message?: string; details?: Detail[] }>(text) ?? {};
  const why = status < 400
    ? `It redirects to ${headers.get("location")}: use the URL of the service itself.`
    : message ?? "The response has no message; a proxy in front of the service may have sent it.";
  // In seconds, whether the header counts them or names a time.
  const after = headers.get("retry-after") ?? "";
  const wait_s = /^\d+$/.test(after) ? Number(after) : Math.max(0, (Date.parse(after) - Date.now()) / 1000);
  const retry_after_s = Number.isNaN(wait_s) ? null : wait_s;
  return new (errorClass(status, error))(status, error, why, details, headers.get("x-request-id"), retry_after_s);
}
