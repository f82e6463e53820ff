// Every error that the client throws: one class for each code of the service.
import type { components } from "./document.js";

type Schemas = components["schemas"];
type CodeOf<S> = S extends { error: infer C extends string; message: string } ? C : never;
export type ErrorCode = { [N in keyof Schemas]: CodeOf<Schemas[N]> }[keyof Schemas];
export type Detail = Schemas["ProblemDetail"];

export class SiteglassError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** The client cannot be created like this. */
export class ConfigurationError extends SiteglassError {}

/** No response came, or none that can be read. Iterate again to repeat the same request; nothing is paid twice. */
export class ConnectionFailed extends SiteglassError {
  constructor(readonly reason: string, readonly attempts = 1) {
    super(`No response from the service${attempts === 1 ? "" : ` after ${attempts} attempts`}: ${reason}`);
  }
}

/** The service returned an error. */
export class ServiceError extends SiteglassError {
  /** Whether this attempt, or one before it of the same call, may have been charged all the same. */
  may_be_charged: boolean;

  constructor(
    readonly status: number, readonly code: string, message: string, readonly details: Detail[],
    readonly request_id: string | null, readonly retry_after_s: number | null,
  ) {
    super(message);
    // A proxy does not know what the service did. Only a 500 of the service itself promises that nothing was charged.
    this.may_be_charged = status >= 500 && !(status === 500 && code === "INTERNAL");
  }
}

export class BadRequest extends ServiceError {}
export class InvalidRequest extends BadRequest {}
export class InvalidQuery extends BadRequest {}
export class InvalidCursor extends BadRequest {}
export class Unauthorized extends ServiceError {}
export class PaymentRequired extends ServiceError {}
export class InsufficientCredits extends PaymentRequired {}
export class CreditCapExceeded extends PaymentRequired {}
export class Forbidden extends ServiceError {}
export class AccountSuspended extends Forbidden {}
export class NotFound extends ServiceError {}
export class MethodNotAllowed extends ServiceError {}
export class IdempotencyInProgress extends ServiceError {}
export class IdempotencyPriceChanged extends ServiceError {}
export class CursorExpired extends ServiceError {}
export class PayloadTooLarge extends ServiceError {}
export class UnsupportedMediaType extends ServiceError {}
export class IdempotencyMismatch extends ServiceError {}
export class TooManyRequests extends ServiceError {}
export class Internal extends ServiceError {}
export class Unavailable extends ServiceError {}

// The type of the keys comes from the OpenAPI document: a code without a class does not compile.
const BY_CODE: Record<ErrorCode, typeof ServiceError> = {
  INVALID_REQUEST: InvalidRequest,
  INVALID_QUERY: InvalidQuery,
  INVALID_CURSOR: InvalidCursor,
  UNAUTHORIZED: Unauthorized,
  INSUFFICIENT_CREDITS: InsufficientCredits,
  CREDIT_CAP_EXCEEDED: CreditCapExceeded,
  FORBIDDEN: Forbidden,
  ACCOUNT_SUSPENDED: AccountSuspended,
  NOT_FOUND: NotFound,
  METHOD_NOT_ALLOWED: MethodNotAllowed,
  IDEMPOTENCY_IN_PROGRESS: IdempotencyInProgress,
  IDEMPOTENCY_PRICE_CHANGED: IdempotencyPriceChanged,
  CURSOR_EXPIRED: CursorExpired,
  PAYLOAD_TOO_LARGE: PayloadTooLarge,
  UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaType,
  IDEMPOTENCY_MISMATCH: IdempotencyMismatch,
  TOO_MANY_REQUESTS: TooManyRequests,
  INTERNAL: Internal,
  UNAVAILABLE: Unavailable,
};
// For a code that is newer than this client.
const BY_STATUS = new Map<number, typeof ServiceError>([
  [400, BadRequest], [401, Unauthorized], [402, PaymentRequired], [403, Forbidden], [404, NotFound],
  [429, TooManyRequests], [503, Unavailable],
]);
const BY_NAME = new Map<string, typeof ServiceError>(Object.entries(BY_CODE));

export function errorClass(status: number, code: string): typeof ServiceError {
  return BY_NAME.get(code) ?? BY_STATUS.get(status) ?? ServiceError;
}
