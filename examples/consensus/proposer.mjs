// The proposer: writes a proposal into the shared pool, and answers with it when the pool has it.
import { createInterface } from 'node:readline';

const say = (event) => console.log(JSON.stringify(event));
let proposal;

createInterface({ input: process.stdin }).on('line', (line) => {
  const event = JSON.parse(line);
  const { type, correlationId } = event;
  if (type === 'agent.step.requested') {
    proposal = { id: 'proposal_1', proposal: `review ${event.input} in two steps`, reasoning: 'small changes are read' };
    say({ type: 'pool.put', correlationId, content: JSON.stringify(proposal), segment: 'proposals', importance: 0.9,
      tags: ['proposal', 'pending', proposal.id], metadata: { proposal_id: proposal.id }, key: proposal.id });
  } else if (type === 'pool.answered') {
    say({ type: 'agent.step.completed', correlationId, output: proposal });
  }
});
