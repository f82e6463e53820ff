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
  await client.POST("/v1/leads/interpret", { body: { query: "dentists in Berlin" } });
  await client.POST("/v1/leads/enrich", { body: { domains: ["example.com"] } });
  await client.GET("/v1/values/{field}", { params: { path: { field: "city" }, query: { q: "mün" } } });
  await client.GET("/v1/ledger", { params: { query: { limit: 10 } } });
  const { data: account } = await client.GET("/v1/account");
  const burst: number | null | undefined = account?.key.burst;

  const { data, error } = await client.POST("/v1/leads/search", { body: { country: "DEU" } });
  if (error) {
    return [error.error, error.message, String(burst)];
  }
  if ("dry_run" in data) {
    return [String(data.lead_credits)];
  }
  const leads: components["schemas"]["Lead"][] = data.results;
  return leads.flatMap((lead) => lead.emails ?? []);
}

// What the service refuses does not compile.
// @ts-expect-error: an unknown field
export const unknownField: components["schemas"]["SearchBody"] = { limt: 5 };
// @ts-expect-error: `domains` is required
export const noDomains: components["schemas"]["EnrichBody"] = {};
// @ts-expect-error: an order that does not exist
export const unknownOrder: components["schemas"]["SearchBody"] = { sort: "name" };
