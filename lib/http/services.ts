/**
 * The services that handlers use. `lib/compose/services.ts` adds each one by declaration merging, so that this folder
 * depends on no area of the product.
 */
export interface Services {}
