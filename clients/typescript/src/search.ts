// A search: the leads of all pages, within a budget.
import type { components } from "./document.js";
import { IdempotencyPriceChanged, PayloadTooLarge, PaymentRequired } from "./errors.js";
import type { Answer, Http } from "./http.js";

type Schemas = components["schemas"];
export type Lead = Schemas["Lead"];
export type Stopped = "end" | "max_leads" | "max_lead_credits";
/** The body of a search. `limit` is the size of a page; `max_leads` and `max_lead_credits` are for all pages. */
export type SearchOptions = Omit<Schemas["SearchBody"], "dry_run"> & { max_leads?: number };
export type Page = Schemas["SearchResponse"] & { credits_used: number; request_id: string | null };

export interface Price {
  lead_credits: number;
  api_credits: number;
  total_results: number;
  /** False: it costs at most this. */
  exact: boolean;
}

interface Call {
  cursor: string | null;
  size: number;
  left: number | null;
  idempotency_key: string;
}

const MAX_LIMIT = 100;
const MAX_STRETCH = 128;
const MAX_LEAD_CREDITS = 1_000_000;

/** Iterate over it for the leads of all pages; iterating again continues, and repeats a page that was lost. */
export class Search implements AsyncIterable<Lead> {
  credits_used = 0;
  rows_done = 0;
  total_results: number | null = null;
  /** What ended it; null while there is more. */
  stopped: Stopped | null = null;
  /** If the search found no lead: the smallest change that gives it results, where one change is enough. */
  hint: string | null = null;
  readonly #http: Http;
  readonly #body: Schemas["SearchBody"];
  readonly #budget: number | null;
  readonly #maxLeads: number;
  #limit: number;
  #stretch = 1;
  #accountLeft: number | null = null;
  #cursor: string | null = null;
  #pending: Call | null = null;
  #unread: Lead[] = [];

  constructor(http: Http, { max_leads, max_lead_credits, limit, ...body }: SearchOptions) {
    this.#http = http;
    this.#body = body;
    this.#limit = limit ?? MAX_LIMIT;
    this.#budget = max_lead_credits ?? null;
    this.#maxLeads = max_leads ?? Infinity;
    if (!(this.#maxLeads >= 0 && (this.#budget ?? 0) >= 0)) throw new RangeError("a limit must not be negative");
    if (!(this.#limit >= 1 && this.#limit <= MAX_LIMIT)) throw new RangeError(`limit must be from 1 to ${MAX_LIMIT}`);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Lead> {
    for (;;) {
      for (let lead = this.#unread.shift(); lead; lead = this.#unread.shift()) yield lead;
      const page = await this.#nextPage();
      if (page === null) return;
      this.#unread = [...page.results];
    }
  }

  async *pages(): AsyncGenerator<Page> {
    for (let page = await this.#nextPage(); page !== null; page = await this.#nextPage()) yield page;
  }

  /** What all of it costs within its limits. Free; exact unless `max_leads` cuts a walk of more than one page. */
  async price(): Promise<Price> {
    const within = (cost: number): number => Math.min(cost, this.#budget ?? cost);
    if (this.#maxLeads >= 1 && this.#maxLeads <= MAX_LIMIT) {
      const { body } = await this.#http.send("post", "/v1/leads/search", {
        body: { ...this.#body, limit: this.#maxLeads, dry_run: true },
      });
      if ("results" in body) throw new TypeError("expected a price");
      const { api_credits, total_results } = body;
      return { lead_credits: within(body.lead_credits), api_credits, total_results, exact: true };
    }
    const { body } = await this.#http.send("post", "/v1/leads/facets", {
      body: { ...this.#body, facets: ["has_email"] },
    });
    const payable = body.price.with_email;
    const exact = payable <= this.#maxLeads && !body.price.estimated;
    const lead_credits = within(Math.min(payable, this.#maxLeads));
    return { lead_credits, api_credits: 0, total_results: body.total_results, exact };
  }

  /** What the search means: every condition with the words that say it. Free. */
  async interpret(): Promise<Schemas["InterpretResponse"]> {
    return (await this.#http.send("post", "/v1/leads/interpret", { body: this.#body })).body;
  }

  /** Count the leads that match. Free. */
  async count(): Promise<number> {
    return (await this.interpret()).total_results;
  }

  /** Save the search in the service under a name, without its limits. Free. */
  async save(name: string, shared = false): Promise<Schemas["SavedSearchShown"]> {
    return (await this.#http.send("post", "/v1/searches", { body: { name, search: this.#body, shared } })).body;
  }

  async #nextPage(): Promise<Page | null> {
    for (let call = (this.#pending ??= this.#nextCall()); call !== null; call = this.#pending = this.#nextCall()) {
      try {
        const answer = await this.#fetch(call);
        this.#pending = null;
        return this.#took(answer);
      } catch (error) {
        if (!this.#goesOn(call, error)) return null;
      }
    }
    return null;
  }

  /** The next page. A page of n leads costs at most n: near the end of the budget, pages are small, too. */
  #nextCall(): Call | null {
    let size = Math.min(this.#limit, this.#maxLeads - this.rows_done);
    const left = this.#budget === null ? null : Math.max(0, this.#budget - this.credits_used);
    if (this.stopped === "end") return null;
    const passed = this.#budget !== null && this.credits_used > this.#budget;
    this.stopped = size <= 0 ? "max_leads" : passed ? "max_lead_credits" : null;
    if (this.stopped !== null) return null;
    const affordable = Math.min(left ?? size, this.#accountLeft ?? size);
    if (affordable < size) size = Math.min(size, Math.max(1, affordable) * this.#stretch);
    return { cursor: this.#cursor, size, left, idempotency_key: crypto.randomUUID() };
  }

  async #fetch({ cursor, size, left, idempotency_key }: Call): Promise<Answer<Schemas["SearchResponse"]>> {
    const shape = { limit: size, ...(left === null ? {} : { max_lead_credits: Math.min(left, MAX_LEAD_CREDITS) }) };
    const answer = cursor === null
      ? await this.#http.send("post", "/v1/leads/search", { body: { ...this.#body, ...shape }, idempotency_key })
      : await this.#http.send("post", "/v1/leads/search/{cursor}", { path: { cursor }, body: shape, idempotency_key });
    const { body } = answer;
    if ("dry_run" in body) throw new TypeError("expected a page");
    return { ...answer, body };
  }

  #took({ body, lead_credits_used, lead_credits_left, request_id, hint }: Answer<Schemas["SearchResponse"]>): Page {
    this.#cursor = body.next === null ? null : body.next.slice(body.next.lastIndexOf("/") + 1);
    this.rows_done += body.results.length;
    this.credits_used += lead_credits_used;
    this.total_results = body.total_results;
    this.hint = hint;
    this.#accountLeft = lead_credits_left;
    // Where few leads have an address, pages grow again; the service refuses what would cost more.
    this.#stretch = lead_credits_used * 2 <= body.results.length ? Math.min(this.#stretch * 2, MAX_STRETCH) : 1;
    if (body.next === null) this.stopped = "end";
    return { ...body, credits_used: lead_credits_used, request_id };
  }

  /** Whether to continue after a page that was refused and cost nothing; throws the error if nothing helps. */
  #goesOn({ size, left }: Call, error: unknown): boolean {
    if (error instanceof IdempotencyPriceChanged) return true;
    if (!(error instanceof PaymentRequired || error instanceof PayloadTooLarge)) throw error;
    if (error instanceof PaymentRequired) {
      if (size === 1 && left === 0) {
        this.stopped = "max_lead_credits";
        this.#pending = null;
        return false;
      }
      this.#stretch = 1;
      if (left !== null && size > Math.max(1, left)) return true;
    }
    if (size === 1) throw error;
    // The account, the day of the key, or what the service keeps for a retry has less room than we know of.
    this.#limit = Math.floor(size / 2);
    return true;
  }
}
