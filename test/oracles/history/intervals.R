# Oracle of late entry, weights, clusters and start-stop rows: survfit, survdiff's form by coxph, coxph, cox.zph, concordance.
# Run from the repository root: Rscript test/oracles/history/intervals.R   (writes test/oracles/history/intervals.json)
suppressMessages({library(survival); library(jsonlite)}); options(warn=1)
tight<-coxph.control(eps=1e-13,toler.chol=1e-14,iter.max=50)
read<-function(name) read.csv(paste0("test/tables/",name,".csv"),stringsAsFactors=TRUE)
heart<-read("heart"); cgd<-read("cgd"); mgus2<-read("mgus2"); retinopathy<-read("retinopathy"); lung<-read("lung")
mgus2$dead<-1*(mgus2$event=="death"); mgus2$male<-1*(mgus2$sex=="M"); mgus2$entry<-mgus2$ageMonths; mgus2$exit<-mgus2$exitMonths
lung$w<-0.5+(seq_len(nrow(lung))*7)%%5; lung$quarter<-ceiling(lung$time/91); lung$dead<-1*(lung$status==2)
cgd$treated<-1*(cgd$treat=="rIFN-g"); cgd$w<-1+(cgd$id%%3)/2
curve<-function(f,until){
  se<-if(isTRUE(f$logse)) f$std.err*f$surv else f$std.err
  list(time=f$time,atRisk=f$n.risk,events=f$n.event,survival=f$surv,error=se,lower=f$lower,upper=f$upper,hazard=f$cumhaz)
}
# the restricted mean's robust error from the influence of every person on the curve
mean_error<-function(f,until){ k<-f$time<=until; t<-c(f$time[k],until); step<-diff(t); I<-f$influence.surv[,k,drop=FALSE]; sqrt(sum((I%*%step)^2)) }
km<-list(
 entry=curve(survfit(Surv(entry,exit,dead)~1,mgus2)),
 entry_loglog=curve(survfit(Surv(entry,exit,dead)~1,mgus2,conf.type="log-log")),
 weights=curve(survfit(Surv(time,dead)~1,lung,weights=w,robust=TRUE)),
 cluster=curve(survfit(Surv(futime,status)~1,retinopathy,cluster=id)),
 entry_weights=curve(survfit(Surv(entry,exit,dead)~1,mgus2,weights=weight,id=id,robust=TRUE)),
 start_stop=curve(survfit(Surv(start,stop,event)~1,heart,id=id,robust=TRUE)),
 start_stop_greenwood=curve(survfit(Surv(start,stop,event)~1,heart,id=id)))
means<-list(
 cluster=list(until=50,error=mean_error(survfit(Surv(futime,status)~1,retinopathy,cluster=id,influence=TRUE),50)),
 entry_weights=list(until=1100,error=mean_error(survfit(Surv(entry,exit,dead)~1,mgus2,weights=weight,id=id,robust=TRUE,influence=TRUE),1100)))
# logrank: the score test with exact ties has the hypergeometric variance; O and E by the definition
byhand<-function(entry,exit,dead,g,w=rep(1,length(g))){ t<-sort(unique(exit[dead==1])); lev<-sort(unique(g)); O<-sapply(lev,function(l) sum((w*dead)[g==l]))
  E<-sapply(lev,function(l) sum(sapply(t,function(s){ r<-entry<s&exit>=s; sum((w*dead)[exit==s])*sum(w[r&g==l])/sum(w[r]) }))); list(observed=O,expected=E) }
exact<-function(d) unname(coxph(Surv(entry,exit,dead)~group,d,ties="exact",control=tight)$score)
robust<-function(f) unname(f$rscore)
mgus2$group<-factor(cut(mgus2$hgb,c(0,12,14,99),labels=FALSE))
logrank<-list(
 entry=c(byhand(mgus2$entry,mgus2$exit,mgus2$dead,mgus2$group),list(chi2=exact(mgus2))),
 weights=c(with(lung,byhand(rep(-1,228),quarter,dead,sex,w)),list(chi2=robust(coxph(Surv(quarter,dead)~factor(sex),lung,weights=w,robust=TRUE,ties="breslow")))),
 cluster=list(chi2=robust(coxph(Surv(futime,status)~trt,retinopathy,cluster=id,ties="breslow"))),
 entry_weights=c(with(mgus2,byhand(entry,exit,dead,group,weight)),list(chi2=robust(coxph(Surv(entry,exit,dead)~group,mgus2,weights=weight,cluster=id,ties="breslow")))))
say<-function(f){
  zph<-function(tr){ z<-cox.zph(f,transform=tr)$table; list(chi2=unname(z[,1]),df=unname(z[,2])) }
  naive<-if(is.null(f$naive.var)) f$var else f$naive.var
  # H0 of a person whose covariates are all 0
  b<-basehaz(f,centered=FALSE)
  list(coef=unname(coef(f)),se=unname(sqrt(diag(naive))),robust=unname(sqrt(diag(f$var))),loglik=f$loglik,score=unname(f$score),wald=unname(f$wald.test),
    rscore=if(is.null(f$rscore)) NULL else unname(f$rscore),concordance=unname(f$concordance[1:7]),km=zph("km"),identity=zph("identity"),n=f$n,events=f$nevent,
    hazard_time=b$time,hazard=b$hazard)
}
fit<-function(formula,data,ties,...) do.call("coxph",list(formula=formula,data=data,ties=ties,control=tight,...))
both<-function(formula,data,...) list(efron=say(fit(formula,data,"efron",...)),breslow=say(fit(formula,data,"breslow",...)))
cox<-list(
 entry=both(Surv(entry,exit,dead)~male+hgb+creat+mspike,mgus2),
 entry_weights=both(Surv(entry,exit,dead)~male+hgb+creat,mgus2,weights=quote(weight),cluster=quote(id)),
 entry_strata=both(Surv(entry,exit,dead)~hgb+creat+strata(sex),mgus2),
 start_stop=both(Surv(start,stop,event)~age+year+surgery+transplant,heart,cluster=quote(id)),
 recurrent=both(Surv(tstart,tstop,status)~treated+age+steroids,cgd,cluster=quote(id)),
 recurrent_weights=both(Surv(tstart,tstop,status)~treated+age,cgd,cluster=quote(id),weights=quote(w)),
 weights_tied=both(Surv(quarter,dead)~age+sex,lung,weights=quote(w),robust=TRUE))
count<-function(f) list(count=unname(f$count),c=unname(f$concordance))
pairs<-list(
 entry=count(concordance(Surv(entry,exit,dead)~hgb,mgus2)),
 entry_weights=count(concordance(Surv(entry,exit,dead)~hgb,mgus2,weights=weight)),
 weights=count(concordance(Surv(quarter,dead)~age,lung,weights=w)),
 start_stop=count(concordance(Surv(start,stop,event)~age,heart)))
out<-list(source=paste0("R ",getRversion(),", survival ",packageVersion("survival")),km=km,means=means,logrank=logrank,cox=cox,pairs=pairs)
writeLines(toJSON(out,digits=I(17),auto_unbox=TRUE,na="null",null="null"),"test/oracles/history/intervals.json")
