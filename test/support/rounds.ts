/**
 * How often something that goes on at random is done: `usual` in every run, `long` by `npm run full`, which sets
 * TEST_ROUNDS=long. A test that calls this belongs to the full run as well.
 */
export const rounds = <T>(usual: T, long: T): T => (process.env['TEST_ROUNDS'] === 'long' ? long : usual)
