// run.mjs - one run of a fleet and its check, in a process of its own: several can go on at once, and none waits for
// another one's work. Its argument has the options of runFleet; it sends what it found.
import { inspect } from 'node:util';
import { check } from './checker.mjs';
import { runFleet } from './fleet.mjs';

const options = JSON.parse(process.argv[2]);

async function found() {
  try {
    const { evidence, struck, missed } = await runFleet(options);
    const finals = {};
    for (const { final } of evidence.calls) finals[final] = (finals[final] ?? 0) + 1;
    return { violations: check(evidence), struck, missed, finals, effects: evidence.effects.length };
  } catch (error) {
    return { violations: [`the run did not end: ${inspect(error)}`] };
  }
}

process.send(await found(), () => process.exit(0));
