// The calls of the contract, as a TypeScript developer writes them: `document.d.ts` is generated from /openapi.json.
import createClient from "openapi-fetch";
import type { components, paths } from "./document";

const client = createClient<paths>({ headers: { "X-API-Key": "sg_test_example" } });

export async function theCallsOfTheContract(cursor: string): Promise<string[]> {
  await client.POST("/v1/leads/search", { body: { query: "Shopify stores in Texas", limit: 20 } });
  await client.POST("/v1/leads/search", { body: {} });
  await client.POST("/v1/leads/search", {
    body: {
      wrapped_query: "@country(USA)\n!@technology(Wix)",
      select: ["domain", "emails"],
      service_type: "saas",
      technologies: ["Shopify"],
      min_score: 40,
      seo_score: ">=50",
      spending: "1000-5000",
      updated_after: "2026-10-15",
      has_phone: true,
      city: null,
    },
    params: { header: { "Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324" } },
  });
  await client.POST("/v1/leads/search/{cursor}", { body: {}, params: { path: { cursor } } });
  await client.POST("/v1/leads/search/{cursor}", { params: { path: { cursor } } });
  const { data, error } = await client.POST("/v1/leads/search", { body: { country: "DEU" } });
  if (error) {
    return [error.error, error.message];
  }
  if ("dry_run" in data) {
    return [String(data.lead_credits)];
  }
  const leads: components["schemas"]["Lead"][] = data.results;
  return leads.flatMap((lead) => lead.emails ?? []);
}

// Prices, pages and saves a search: the constant `dry_run` tells a price from a page.
export async function priceWalkAndSave(body: components["schemas"]["SearchBody"], budget: number): Promise<string[]> {
  const { data: price } = await client.POST("/v1/leads/search", { body: { ...body, dry_run: true } });
  if (!price || !("dry_run" in price) || price.lead_credits > budget) return [];
  const constant: true = price.dry_run;
  const domains: string[] = [String(constant)];
  let { data: page } = await client.POST("/v1/leads/search", { body: { ...body, max_lead_credits: budget } });
  while (page && "results" in page) {
    domains.push(...page.results.map((lead) => lead.domain ?? ""));
    if (!page.next) break;
    const cursor = page.next.slice(page.next.lastIndexOf("/") + 1);
    ({ data: page } = await client.POST("/v1/leads/search/{cursor}", { params: { path: { cursor } } }));
  }
  await client.POST("/v1/searches", { body: { name: "priced", search: body } });
  return domains;
}

export async function everyOtherOperation(name: string, request_id: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  const path = { name };

  const { data: reading } = await client.POST("/v1/leads/interpret", { body: { query: "dentists in Berlin" } });
  seen.push(reading?.total_results.toFixed(), reading?.conditions.map((each) => each.words.map((word) => word.text)));
  const { data: counts } = await client.POST("/v1/leads/facets", { body: { ...reading?.filters, facets: ["country"] } });
  seen.push(counts?.price.with_email.toFixed(), counts?.facets.map((each) => each.counts.map((value) => value.count)));
  const { data: diagnosis } = await client.POST("/v1/leads/diagnose", { body: { country: "DEU" } });
  const [change] = diagnosis?.relaxations ?? [];
  if (change) await client.POST("/v1/leads/search", { body: change.filters });

  const { data: enriched } = await client.POST("/v1/leads/enrich", { body: { domains: ["example.com"] } });
  if (enriched && "dry_run" in enriched) seen.push(enriched.found.toFixed(), Object.entries(enriched.on_lists));
  else {
    for (const item of enriched?.results ?? []) {
      seen.push(item.status === "success" ? item.data.emails?.join() : item.message.trim());
    }
  }
  const { data: evidence } = await client.GET("/v1/leads/{domain}/evidence", { params: { path: { domain: "example.com" } } });
  seen.push(evidence?.emails.map((email) => email.seen.map((sighting) => sighting.page)));
  const { data: values } = await client.GET("/v1/values/{field}", { params: { path: { field: "city" }, query: { q: "mün" } } });
  seen.push(values?.values.map((value) => value.name));

  const { data: lists } = await client.GET("/v1/lists");
  seen.push(lists?.lists.map((list) => list.size.toFixed()));
  await client.POST("/v1/lists", { body: { name } });
  await client.POST("/v1/lists/{name}/domains", { params: { path }, body: { domains: ["example.com"] } });
  await client.POST("/v1/lists/{name}/remove", { params: { path }, body: { domains: ["example.com"] } });
  const { data: domains } = await client.GET("/v1/lists/{name}/domains", { params: { path, query: { limit: 10 } } });
  seen.push(domains?.domains.join(), domains?.next?.length);
  await client.DELETE("/v1/lists/{name}", { params: { path } });

  const { data: saved } = await client.GET("/v1/searches");
  for (const each of saved?.searches ?? []) await client.POST("/v1/leads/facets", { body: each.search });
  const { data: now } = await client.GET("/v1/searches/{name}/count", { params: { path } });
  seen.push(now?.total_results.toFixed(), now?.last_total?.toFixed());
  const { data: run } = await client.POST("/v1/searches/{name}/run", { params: { path }, body: { dry_run: true } });
  seen.push(run && "dry_run" in run ? run.total_results.toFixed() : run?.results.length);
  const { data: watch } = await client.POST("/v1/watches", { body: { search: name, every: "week", weekday: "monday" } });
  await client.POST("/v1/watches/{name}", { params: { path }, body: { paused: true } });
  seen.push(watch?.mail_to.join(), (await client.GET("/v1/watches")).data?.watches.map((each) => each.next_run_at));
  seen.push((await client.GET("/v1/watches/{name}", { params: { path } })).data?.every);
  const { data: runs } = await client.GET("/v1/watches/{name}/runs", { params: { path } });
  for (const { run: number } of runs?.runs ?? []) {
    const params = { path: { name, run: number } };
    const { data: report } = await client.GET("/v1/watches/{name}/runs/{run}", { params });
    seen.push(report?.leads.map((lead) => lead.domain));
  }
  await client.DELETE("/v1/watches/{name}", { params: { path } });
  await client.DELETE("/v1/searches/{name}", { params: { path } });

  const { data: started } = await client.POST("/v1/jobs", { body: { domains: ["example.com"], max_lead_credits: 1 } });
  if (started && "job" in started) {
    const params = { path: { job: started.job } };
    await client.POST("/v1/jobs/{job}/cancel", { params });
    seen.push((await client.GET("/v1/jobs/{job}", { params })).data?.not_bought.toFixed());
    const { data: lines } = await client.GET("/v1/jobs/{job}/results", { params, parseAs: "text" });
    seen.push(lines);
    await client.DELETE("/v1/jobs/{job}", { params });
  }
  seen.push((await client.GET("/v1/jobs")).data?.jobs.map((job) => job.reason));

  const { data: account } = await client.GET("/v1/account");
  seen.push(account?.key.burst?.toFixed(), account?.balances.expiring.map((credits) => credits.expires_at));
  const { data: usage } = await client.GET("/v1/usage", { params: { query: { from: "2026-10-01", to: "2026-10-31" } } });
  seen.push(usage?.totals.lead_credits.toFixed());
  const { data: ledger } = await client.GET("/v1/ledger", { params: { query: { limit: 10 } } });
  seen.push(typeof ledger === "string" ? ledger : ledger?.entries.map((entry) => entry.lead_credits.toFixed()));
  const { data: receipt } = await client.GET("/v1/ledger/{request_id}", { params: { path: { request_id } } });
  seen.push(receipt?.entries.map((entry) => entry.domains.map((domain) => domain.charged)));

  const { data: pending } = await client.POST("/v1/opt-out", { body: { domain: "example.com" } });
  if (pending) {
    const { data: done } = await client.POST("/v1/opt-out/confirm", { body: { ticket: pending.ticket } });
    seen.push(done && "suppressed" in done ? done.effective_within_s : done?.leads.map((lead) => lead.crawled_at));
  }
  const { data: landing } = await client.GET("/", { parseAs: "text" });
  const { data: docs } = await client.GET("/docs", { parseAs: "text" });
  const { data: api } = await client.GET("/docs/api", { parseAs: "text" });
  const { data: form } = await client.GET("/opt-out", { parseAs: "text" });
  seen.push(landing?.length, docs?.length, api?.length, form?.length);
  seen.push((await client.GET("/healthz")).data?.status, (await client.GET("/readyz")).data?.status);
  seen.push((await client.GET("/openapi.json")).data);
  return seen;
}

// What the service refuses does not compile.
// @ts-expect-error: an unknown field
export const unknownField: components["schemas"]["SearchBody"] = { limt: 5 };
// @ts-expect-error: `domains` is required
export const noDomains: components["schemas"]["EnrichBody"] = {};
// @ts-expect-error: an order that does not exist
export const unknownOrder: components["schemas"]["SearchBody"] = { sort: "name" };
