use lyceum_store::Spool;

#[test]
fn a_spool_keeps_the_order_in_each_space() {
    let mut spool = Spool::new().unwrap();
    for n in 0..1000 {
        spool.put("users", &format!("user-{}", n % 10), &format!("value-{n}")).unwrap();
        spool.put("orgs", "user-1", "no user").unwrap();
    }
    let values = spool.take("users", "user-0").unwrap();
    assert_eq!(values.len(), 100);
    assert_eq!((values[0].as_str(), values[99].as_str()), ("value-0", "value-990"));
    assert!(spool.take("users", "user-0").unwrap().is_empty());
    spool.put("users", "user-0", "late").unwrap();
    assert!(spool.take("users", "nobody").unwrap().is_empty());
    assert!(spool.take("nothing", "user-7").unwrap().is_empty());
    assert_eq!(spool.first("users").unwrap().as_deref(), Some("user-1"));
    assert_eq!(spool.first("nothing").unwrap(), None);
    let mut all = Vec::new();
    spool
        .each("users", |key, value| {
            all.push((key.to_owned(), value.to_owned()));
            Ok(())
        })
        .unwrap();
    assert_eq!(all.len(), 901);
    assert_eq!(all[0], ("user-1".to_owned(), "value-1".to_owned()));
    assert_eq!(all[900], ("user-0".to_owned(), "late".to_owned()));
}
