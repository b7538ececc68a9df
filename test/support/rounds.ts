/**
 * How often something that goes on at random is done: `usual` in every run, `long` by `npm run full`, which sets
 * TEST_ROUNDS=long. A test that calls this belongs to the full run as well.
 */
export const rounds = <T>(usual: T, long: T): T => (process.env['TEST_ROUNDS'] === 'long' ? long : usual)

/**
 * Declares tests: in every run only where `isUsual`, by `npm run full` in any case. What a usual run leaves out shows in
 * another place, or at more length, what its other tests show.
 */
export const declareTests = (isUsual: boolean, declare: () => void): void => {
  if (rounds(isUsual, true)) declare()
}
