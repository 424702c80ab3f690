-- Reports of imports name the fix of an error "remedy" instead of "mend". Inside of texts, quotes are escaped.
UPDATE imports SET report = REPLACE(report, '"mend":', '"remedy":') WHERE report IS NOT NULL;
