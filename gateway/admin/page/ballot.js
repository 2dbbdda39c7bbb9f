// ballot.js - the choices of a vote, and what is wrong with one.

const FEEDBACK_MAX = 4096; // bytes

/** The word of a vote, its label, and what it does. */
export const CHOICES = [
  ['approve', 'Approve', 'Permit the call once, exactly as shown here.'],
  ['modify', 'Ask for changes', 'Refuse this call, and say what to change.'],
  ['reject', 'Reject', 'Refuse the call.'],
  ['abstain', 'Abstain', 'Leave the verdict to the others; you count for the quorum.'],
];

/** What is wrong, and the element to correct; null: nothing. */
export function wrongBallot(vote, said, choice, feedback) {
  if (vote === undefined) return ['Choose a vote first.', choice];
  if (vote === 'modify' && said === '') return ['Say what should be different.', feedback];
  return new TextEncoder().encode(said).length > FEEDBACK_MAX ? [`The feedback is longer than ${FEEDBACK_MAX} bytes.`, feedback] : null;
}
