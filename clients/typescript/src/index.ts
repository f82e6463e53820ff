// The client of Siteglass.
import type { components, paths } from "./document.js";
import { Http, type Answer, type Given, type Options, type Result, type Verbs } from "./http.js";
import { Search, type SearchOptions } from "./search.js";

export type { components, paths } from "./document.js";
export * from "./errors.js";
export type { Answer, Options } from "./http.js";
export type { Lead, Page, Price, Search, SearchOptions, Stopped } from "./search.js";

export class Siteglass {
  readonly #http: Http;

  constructor(options: Options = {}) {
    this.#http = new Http(options);
  }

  /** A search by a sentence, filters or directives; nothing is sent before it is used. */
  search(options: SearchOptions): Search {
    return new Search(this.#http, options);
  }

  /** Balances, prices, limits and the current key. Free. */
  async account(): Promise<components["schemas"]["AccountResponse"]> {
    return (await this.#http.send("get", "/v1/account")).body;
  }

  /** Any operation of the API, typed by the OpenAPI document: `send("post", "/v1/leads/enrich", { body: { domains } })`. */
  send<P extends keyof paths, V extends Verbs<P>>(
    verb: V, path: P, given: Given<paths[P][V]> = {},
  ): Promise<Answer<Result<paths[P][V]>>> {
    return this.#http.send(verb, path, given);
  }
}
