// until.mjs - waits for what another process does.
const PATIENCE_MS = 60_000; // not a measure: sanitizers are slow

/** Waits until `check` gives something true, and gives it back. Looks again every few milliseconds. */
export async function until(check, what = String(check), ms = PATIENCE_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((r) => setTimeout(r, 5));
  }
}
