// The validation problems that the server has found, as they are listed on the page.

const LISTS = "request-composer:not([data-stale]) #effective .problem-item, #compose-problems .problem-item";

/** The items of all lists that are up to date. */
export const problemItems = () => [...document.querySelectorAll(LISTS)];

/** What an item says. */
export const messageOf = (item) => item.querySelector(".problem-message").textContent;
