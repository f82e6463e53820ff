// Runs one case of test_contract.py, which comes as JSON, and prints what came of it.
import { ConnectionFailed, ServiceError, Siteglass, SiteglassError } from "siteglass-client";
import type { Options, SearchOptions } from "siteglass-client";

declare const process: { argv: string[] };
interface Case {
  options: Options;
  search: SearchOptions;
  action: "walk" | "walk in parts" | "pages" | "price" | "count" | "save" | "account" | "receipt of nothing" | "no such cursor";
}

const { options, search: body, action }: Case = JSON.parse(process.argv[2] ?? "");
const domains: string[] = [];
const outcome: Record<string, unknown> = { domains };
try {
  const client = new Siteglass(options);
  const search = client.search(body);
  try {
    if (action === "walk in parts") {
      for (let part = 0; part < 7; part++) {
        for await (const lead of search) if (domains.push(lead.domain ?? "") % 5 === 0) break;
      }
    }
    if (action.startsWith("walk")) for await (const lead of search) domains.push(lead.domain ?? "");
    if (action === "pages") {
      const pages: number[] = [];
      for await (const page of search.pages()) pages.push(page.credits_used);
      outcome["value"] = pages;
    }
    if (action === "price") {
      const { lead_credits, total_results, exact } = await search.price();
      outcome["value"] = [lead_credits, total_results, exact];
    }
    if (action === "count") outcome["value"] = await search.count();
    if (action === "save") outcome["value"] = (await search.save("contract")).search;
    if (action === "account") outcome["value"] = (await client.account()).balances.lead_credits;
    if (action === "receipt of nothing") {
      const request_id = "00000000-0000-4000-8000-000000000000";
      await client.send("get", "/v1/ledger/{request_id}", { path: { request_id } });
    }
    if (action === "no such cursor") {
      await client.send("post", "/v1/leads/search/{cursor}", { path: { cursor: "made-up" }, body: {} });
    }
  } finally {
    outcome["credits_used"] = search.credits_used;
    outcome["total_results"] = search.total_results;
    outcome["stopped"] = search.stopped;
  }
} catch (error) {
  if (!(error instanceof SiteglassError)) throw error;
  outcome["error"] = error.name;
  if (error instanceof ConnectionFailed) outcome["attempts"] = error.attempts;
  if (error instanceof ServiceError) {
    const { status, code, details, retry_after_s, may_be_charged } = error;
    const fields = details.map(({ field, nearest, line }) => [field, nearest ?? null, line ?? null]);
    outcome["refusal"] = [status, code, fields, may_be_charged, (retry_after_s ?? 0) > 10];
  }
}
console.log(JSON.stringify(outcome));
