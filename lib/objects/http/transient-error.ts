export { isOutage, TransientError, withRetry } from '#lib/async/retry.ts'
