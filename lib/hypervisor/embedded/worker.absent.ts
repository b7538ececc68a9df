/** Takes the place of worker.ts in a build without drivers, which starts no such thread. */
export const serve = (): void => {}
